#if os(Linux)
import Foundation
import Transport

/// A call that is cancelled while its host is looked up, by a resolver that takes its time, and one that comes after it.
///
/// The resolver says by files in the folder that LOOKUP_FOLDER names when it has begun and when it has ended.
struct LookupProbe {
    let url: URL

    func run() async throws {
        let folder = URL(filePath: ProcessInfo.processInfo.environment["LOOKUP_FOLDER"] ?? "")
        func exists(_ name: String) -> Bool {
            FileManager.default.fileExists(atPath: folder.appending(path: name).path)
        }
        guard let nobody = URL(string: "http://slow.invalid/") else { return }
        let transport = CurlTransport()
        let call = Task { try await transport.send(HTTPRequest(url: nobody)) }
        while !exists("begun") { await Task.yield() }
        call.cancel()
        _ = try await transport.send(HTTPRequest(url: url))
        try check(!exists("ended"), "The call that came after waited for the lookup.")
        let another = Task { try await transport.send(HTTPRequest(url: nobody)) }
        await transport.shutDown()
        _ = await another.result
        try check(!exists("ended"), "The end of the transport waited for the lookup.")
    }
}
#endif
