import Foundation
import Harness
import Interceptors

/// Answers of 100 bytes that vary by a field.
private struct Varied: Transport {
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        var fields = Origin.fields
        fields[.vary] = "X-Variant"
        return HTTPResponse(
            status: 200,
            headers: fields,
            body: HTTPBody(Data(repeating: 7, count: 100)),
            url: request.url
        )
    }
}

/// Compares hits of a URL with one stored variant and with sixteen.
@concurrent
func measureVariants() async throws {
    var contenders: [Contender] = []
    for (name, variants) in [("memory, alone", 1), ("memory, of 16", 16), ("disk, alone", 1), ("disk, of 16", 16)] {
        let store: any CacheStore =
            name.hasPrefix("disk")
            ? DiskCacheStore(at: folder.appending(path: "variants-\(variants)")) : MemoryCacheStore()
        let chain = InterceptorChain([.cache(store)], transport: Varied())
        var requests: [HTTPRequest] = []
        for variant in 0..<variants {
            var request = try thing(0)
            request.headers["X-Variant"] = "\(variant)"
            requests.append(request)
            _ = try await chain.send(request)
        }
        contenders.append(
            Contender(name) { [requests] count in
                for index in 0..<count {
                    let outcome = try await chain.send(requests[index % requests.count]).context.cacheOutcome
                    guard outcome?.result == .hit else { throw Wrong() }
                }
            }
        )
    }
    let costs = try await compare("A hit of 100 bytes that varies", repetitions: 2_000, contenders)
    if let ratio = costs.ratio("disk, of 16", to: "disk, alone", of: { $0.cpu ?? $0.wall }) {
        goal("a hit of 16 variants on disk, to one of a single response", ratio, atMost: 4, "times")
    }
}
