#if os(Linux)
import Foundation
import Glibc
import InterceptorsTransport

/// Cancels a call whose host name is being looked up by a slow resolver, and sends another call after it.
///
/// In the folder that LOOKUP_FOLDER names, the resolver writes into the pipe `begun`, and creates the file `ended`.
struct LookupProbe {
    let url: URL

    func run() async throws {
        let folder = URL(filePath: ProcessInfo.processInfo.environment["LOOKUP_FOLDER"] ?? "")
        func hasEnded() -> Bool { FileManager.default.fileExists(atPath: folder.appending(path: "ended").path) }
        guard let nobody = URL(string: "http://slow.invalid/") else { return }
        let begun = open(folder.appending(path: "begun").path, O_RDWR)
        try check(begun >= 0, "There is no pipe.")
        let transport = CurlTransport()
        let call = Task { try await transport.send(HTTPRequest(url: nobody)) }
        let hasBegun = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var byte: UInt8 = 0
                continuation.resume(returning: read(begun, &byte, 1) == 1)
            }
        }
        try check(hasBegun, "The lookup has not begun.")
        call.cancel()
        _ = try await transport.send(HTTPRequest(url: url))
        try check(!hasEnded(), "The call that came after waited for the lookup.")
        let another = Task { try await transport.send(HTTPRequest(url: nobody)) }
        await transport.shutDown()
        _ = await another.result
        try check(!hasEnded(), "The end of the transport waited for the lookup.")
    }
}
#endif
