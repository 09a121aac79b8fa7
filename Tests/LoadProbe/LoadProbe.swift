import Foundation
import InterceptorsTransfers
import InterceptorsTransport

/// The client's side of the load tests. It is a separate program, so that its memory, threads and descriptors belong to
/// the transport alone.
@main struct LoadProbe {
    static func main() async throws {
        #if os(Linux)
        let arguments = CommandLine.arguments
        guard arguments.count >= 4, let number = Int(arguments[2]), let url = URL(string: arguments[3]) else {
            throw LoadFailure(
                description: "LoadProbe faults|download|upload|pause|events|lines|lookup NUMBER URL [http2]"
            )
        }
        let versions: CurlTransport.Versions = arguments.last == "http2" ? .http2PriorKnowledge : .negotiated
        let stream = StreamLoad(size: number, url: url, versions: versions)
        switch arguments[1] {
        case "faults": try await FaultLoad(count: number, server: url).run()
        case "download": try await stream.download()
        case "upload": try await stream.upload()
        case "pause": try await stream.pause()
        case "events": try await stream.events()
        case "lines": try await stream.lines()
        case "lookup": try await LookupProbe(url: url).run()
        default: throw LoadFailure(description: "There is no \(arguments[1]).")
        }
        #endif
    }
}

/// A check of the load test failed.
struct LoadFailure: Error, CustomStringConvertible { let description: String }

func check(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if !condition { throw LoadFailure(description: message()) }
}
