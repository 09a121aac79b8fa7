#if os(Linux)
import Foundation
import Middlewares
import TestSupport
import Testing
import TransportTesting

/// Host names that a slow resolver looks up.
@Suite(.againstHanging, .heavy) struct LookupTests {
    private static let compiler = "/usr/bin/cc"

    /// Replaces the system's resolver. A look-up takes ten seconds, and creates a file when it begins and when it ends.
    private static let resolver = """
        #include <fcntl.h>
        #include <netdb.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        static void say(const char *name) {
            char path[4096];
            snprintf(path, sizeof(path), "%s/%s", getenv("LOOKUP_FOLDER"), name);
            close(open(path, O_CREAT | O_WRONLY, 0600));
        }
        int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
            say("begun");
            sleep(10);
            say("ended");
            return EAI_NONAME;
        }
        """

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: Self.compiler), "There is no C compiler"))
    func lookupOfACallThatHasEndedHoldsUpNobody() async throws {
        let folder = try TemporaryFolder()
        let library = folder.file("resolver.so").path
        let compiled = try await Command.run(
            Self.compiler,
            ["-shared", "-fPIC", "-x", "c", "-", "-o", library],
            input: Data(Self.resolver.utf8)
        )
        try #require(compiled.status == 0, "\(compiled.complaint)")
        let server = try MockServer()
        server.on(.get, "/", MockResponse(body: "ok"))
        let probe = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "LoadProbe")
        let result = try await Command.run(
            "/usr/bin/env",
            [
                "LOOKUP_FOLDER=\(folder.url.path)", "LD_PRELOAD=\(library)", probe.path, "lookup", "0",
                server.url.absoluteString,
            ]
        )
        #expect(result.status == 0, "\(result.complaint)")
    }
}
#endif
