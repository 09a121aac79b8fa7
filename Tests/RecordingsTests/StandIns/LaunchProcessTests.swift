#if os(Linux) || os(macOS)
import Foundation
import InterceptorsRecordings
import InterceptorsTestSupport
import Testing

/// Another process takes the stubs from its arguments, as an app under test does.
@Suite(.againstHanging) struct LaunchProcessTests {
    private func launch(_ build: String, _ requests: [String], _ arguments: [String]) async throws -> [String] {
        let program = try #require(Program.path(of: "InterceptorsRecordingProcess"))
        let result = try await Command.run(program, ["launch", build] + requests + arguments)
        #expect(result.status == 0, "\(result.complaint)")
        return result.text.split(separator: "\n").map(String.init)
    }

    @Test func anotherProcessAnswersWithTheStubs() async throws {
        let stubs = LaunchStubs(
            "users",
            stubs: [.on(.get, "/users/7", .status(404, headers: ["X-A": "b"])), .on(.post, "/a b?q=ä", .text("é 👋🏽"))]
        )
        let requests = [
            "GET", "https://a.example/users", "GET", "https://a.example/users/42", "GET", "https://a.example/users/7",
            "POST", "https://a.example/a%20b?q=%C3%A4&r=1", "POST", "https://a.example/login",
        ]
        let lines = try await launch("debug", requests, try stubs.launchArguments)
        #expect(
            lines.prefix(4) == [
                #"200 application/json [{"id":42,"name":"Ada"}]"#, #"200 application/json {"id":42,"name":"Ada"}"#,
                "404 - ", "200 text/plain; charset=utf-8 é 👋🏽",
            ]
        )
        #expect(lines.last?.hasPrefix("noStub: No stub answers this request.") == true, "\(lines)")
    }

    @Test func aLongArgumentArrivesWhole() async throws {
        let bytes = Data((0..<60_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let stubs = LaunchStubs(stubs: [.on(.get, "/a", .data(bytes))])
        let arguments = try stubs.launchArguments
        #expect(try await launch("debug", ["GET", "https://a.example/a"], arguments) == ["200 - 60000 bytes"])
    }

    @Test func aLongAnswerTravelsAsAFile() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data(count: 3_000_000), to: "a.bin")
        let stubs = LaunchStubs(stubs: [.on(.get, "/a", .file(file))])
        let arguments = try stubs.launchArguments
        #expect(try await launch("debug", ["GET", "https://a.example/a"], arguments) == ["200 - 3000000 bytes"])
    }

    @Test func releaseBuildIgnoresTheArguments() async throws {
        for arguments in [try LaunchStubs("users").launchArguments, ["--interceptors-stubs=?"]] {
            let lines = try await launch("release", ["GET", "https://a.example/users"], arguments)
            #expect(lines == ["200 - the network"])
        }
    }

    @Test func malformedArgumentsFailEachRequestOfTheProcess() async throws {
        let requests = ["GET", "https://a.example/users", "GET", "https://a.example/b"]
        let lines = try await launch("debug", requests, ["--interceptors-stubs=[\"usres\"]"])
        #expect(lines.count == 2)
        #expect(
            lines.allSatisfy {
                $0 == "invalidLaunchStubs: The stubs in the launch arguments can't be used, so nothing was sent."
                    + #" "usres" isn't in the app's table of stubs. The table has: "login", "users"."#
            },
            "\(lines)"
        )
    }
}
#endif
