#if os(Linux)
import Foundation
import Transport

/// Cancels a call whose host name is being looked up by a slow resolver, and sends another call after it.
///
/// The resolver creates a file named `begun` and a file named `ended` in the folder that LOOKUP_FOLDER names.
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
