#if os(Linux)
import Foundation
import Glibc
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

/// Host names that a slow resolver looks up.
@Suite(.againstHanging, .heavy) struct LookupTests {
    /// Replaces the system's resolver. A look-up writes into the pipe `begun`, lasts until the process has ended, and
    /// creates the file `ended` if the process waits for it. A process that waited forever would never report that.
    private static let resolver = """
        #include <fcntl.h>
        #include <netdb.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        static void say(const char *name) {
            char path[4096];
            snprintf(path, sizeof(path), "%s/%s", getenv("LOOKUP_FOLDER"), name);
            int file = open(path, O_CREAT | O_WRONLY, 0600);
            if (write(file, "x", 1) != 1) { abort(); }
            close(file);
        }
        int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
            say("begun");
            sleep(300);
            say("ended");
            return EAI_NONAME;
        }
        """

    @Test(.enabled(if: Compiler.mustRun, Comment(rawValue: Compiler.absence)))
    func lookupOfACallThatHasEndedHoldsUpNobody() async throws {
        let folder = try TemporaryFolder()
        let library = folder.file("resolver.so").path
        let compiled = try await Compiler.buildLibrary(Self.resolver, at: library)
        try #require(compiled.status == 0, "\(compiled.complaint)")
        try #require(mkfifo(folder.file("begun").path, 0o600) == 0)
        let server = try MockServer()
        server.on(.get, "/", .status(200, body: "ok"))
        let probe = try #require(Program.path(of: "InterceptorsLoadProbe"))
        let result = try await Command.run(
            "/usr/bin/env",
            [
                "LOOKUP_FOLDER=\(folder.url.path)", "LD_PRELOAD=\(library)", probe, "lookup", "0",
                server.url.absoluteString,
            ]
        )
        #expect(result.status == 0, "\(result.complaint)")
    }
}
#endif
