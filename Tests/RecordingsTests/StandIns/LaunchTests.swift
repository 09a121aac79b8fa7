import Foundation
import InterceptorsInsight
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct LaunchTests {
    private let network = StubTransport { _ in HTTPResponse(status: 200, body: "the network") }

    private func launched(
        _ arguments: [String],
        allowed: Bool = true,
        defaults: [String: [Stub]] = [:],
        fallback: (any Transport)? = nil
    ) -> Client {
        let transport: SwitchingTransport = .launchStubs(
            allowed: allowed,
            defaults: defaults,
            fallback: fallback,
            otherwise: network,
            arguments: ["/usr/bin/app", "-AppleLanguages", "(de)"] + arguments + ["-x"]
        )
        return Client(baseURL: url("https://a.example"), interceptors: [], transport: transport)
    }

    private func refusal(_ arguments: [String], defaults: [String: [Stub]] = [:]) async -> String? {
        let error = await #expect(throws: TransportError.self) {
            try await launched(arguments, defaults: defaults).get("/a")
        }
        #expect(error?.code == .invalidLaunchStubs)
        #expect(network.requests.isEmpty)
        return error?.message.replacingOccurrences(
            of: "The stubs in the launch arguments can't be used, so nothing was sent. ",
            with: ""
        )
    }

    @Test func stubsOfTheArgumentsAnswer() async throws {
        let stubs = LaunchStubs(stubs: [.on(.get, "/a", .text("stubbed ä")), .on(.get, "/b", .status(503), times: 1)])
        let client = launched(try stubs.launchArguments)
        #expect(try await client.get("/a") == "stubbed ä")
        #expect(try await client.send(HTTPRequest(url: url("/b"))).status == 503)
        #expect(network.requests.isEmpty)
    }

    @Test func withoutStubsTheOtherTransportAnswers() async throws {
        #expect(try await launched([]).get("/a") == "the network")
        #expect(try await launched(["--stubs", "interceptors-stubs=[]"]).get("/a") == "the network")
    }

    @Test(arguments: [
        "--interceptors-stub", "--interceptors-stubs", "--interceptors-stub=[]", "--interceptors-stubs-file=a",
    ])
    func aMisspelledFlagSendsNothing(argument: String) async throws {
        let error = try await failure(.invalidLaunchStubs) { _ = try await launched([argument]).get("/a") }
        #expect("\(error)".contains("unknown") && "\(error)".contains("--interceptors-stubs=…"))
        #expect(network.requests.isEmpty)
    }

    @Test func argumentsAreNotReadUnlessAllowed() async throws {
        let transport: SwitchingTransport = .launchStubs(
            allowed: false,
            otherwise: network,
            arguments: {
                Issue.record("The arguments were read.")
                return ["--interceptors-stubs=[]"]
            }()
        )
        #expect(transport.source == "other")
        #expect(try await transport.send(HTTPRequest(url: url("https://a.example"))).status == 200)
    }

    @Test func onlyStubsAndMalformedArgumentsCountAsStubbed() {
        func isStubbed(_ arguments: String...) -> Bool {
            SwitchingTransport.launchStubs(allowed: true, otherwise: network, arguments: arguments).source == "stubs"
        }
        #expect(!isStubbed() && isStubbed("--interceptors-stubs=[]") && isStubbed("--interceptors-stubs=?"))
    }

    @Test func requestThatNoStubMatchesFailsUnlessTheAppNamesAFallback() async throws {
        let arguments = try LaunchStubs(stubs: [.on(.get, "/a", .status(204))]).launchArguments
        let error = await #expect(throws: TransportError.self) { try await launched(arguments).get("/aa") }
        #expect(error?.code == .noStub)
        #expect(error?.message.contains("Did you mean GET /a?") == true, "\(String(describing: error))")
        #expect(network.requests.isEmpty)
        #expect(try await launched(arguments, fallback: network).get("/aa") == "the network")
    }

    @Test func emptyListOfStubsKeepsTheAppOffTheNetwork() async throws {
        let client = launched(try LaunchStubs().launchArguments)
        await #expect(throws: TransportError.self) { try await client.get("/a") }
        #expect(network.requests.isEmpty)
    }

    @Test func namesStandForStubsOfTheTable() async throws {
        let table: [String: [Stub]] = [
            "users": [.on(.get, "/users", .text("all")), .on(.get, "/users/*", .text("one"))],
            "flaky": [.on(.get, "/users", .status(503), times: 1)], "other": [.on(.get, "/other", .text("other"))],
        ]
        let happy = launched(try LaunchStubs("users", "other").launchArguments, defaults: table)
        #expect(
            try await [happy.get("/users"), happy.get("/users/1"), happy.get("/other")] == ["all", "one", "other"]
        )

        let stubs = LaunchStubs("users", stubs: [.on(.get, "/users", .text("none"))])
        let overridden = launched(try stubs.launchArguments, defaults: table)
        #expect(try await [overridden.get("/users"), overridden.get("/users/1")] == ["none", "one"])

        let limited = LaunchStubs("users", stubs: [.on(.get, "/users/1", .text("first"), times: 1)])
        let once = launched(try limited.launchArguments, defaults: table)
        #expect(try await [once.get("/users/1"), once.get("/users/1")] == ["first", "one"])

        let unlimited = LaunchStubs("flaky", stubs: [.on(.get, "/users", .text("stable"))])
        let stable = launched(try unlimited.launchArguments, defaults: table)
        #expect(try await [stable.get("/users"), stable.get("/users")] == ["stable", "stable"])
    }

    @Test func argumentsOfSeveralListsAddUp() async throws {
        let table: [String: [Stub]] = ["users": [.on(.get, "/users", .text("all"))]]
        let first = try LaunchStubs("users", stubs: [.on(.get, "/a", .text("1"))]).launchArguments
        let second = try LaunchStubs(stubs: [.on(.get, "/a", .text("2"))]).launchArguments
        let client = launched(first + second, defaults: table)
        #expect(try await [client.get("/users"), client.get("/a")] == ["all", "2"])
    }

    @Test func anArgumentIsASCIIAndBelowTheLimit() async throws {
        let text = String(repeating: "ä👋🏽\n\"\u{7F}", count: 2_000)
        let arguments = try LaunchStubs(stubs: [.on(.get, "/a", .text(text))]).launchArguments
        #expect(arguments.count == 1)
        #expect(arguments.allSatisfy { $0.utf8.count < 100_000 && $0.utf8.allSatisfy { (0x20..<0x7F).contains($0) } })
        #expect(arguments[0].hasPrefix("--interceptors-stubs=["))
        #expect(try await launched(arguments).get("/a") == text)
        #expect(try await launched(Array(arguments.flatMap { [$0, "-other"] })).get("/a") == text)
    }

    @Test func stubsThatAreTooLongAreAnErrorOfTheTest() {
        let stubs = LaunchStubs(stubs: [.on(.get, "/a", .data(Data(repeating: 0xFF, count: 400_000)))])
        let error = #expect(throws: TransportError.self) { try stubs.launchArguments }
        #expect(error?.code == .launchStubsTooLong)
        #expect(error?.message.contains(".file(…)") == true)
    }

    @Test func answerThatCannotTravelIsAnErrorOfTheTest() {
        let stubs = LaunchStubs(stubs: [.on(.get, "/a", .answer { _ in HTTPResponse(status: 200) })])
        let error = #expect(throws: TransportError.self) { try stubs.launchArguments }
        #expect(error?.code == .invalidLaunchStubs)
    }

    @Test func malformedArgumentsFailEachRequestWithTheReason() async throws {
        let flag = "--interceptors-stubs="
        let cases: [([String], String)] = [
            (["?"], "The list of stubs can't be read: it isn't JSON from line 1, column 1 on."),
            ([""], "The list of stubs can't be read: it isn't JSON from line 1, column 1 on."),
            (
                [#"[{"on":"/a"},{"on":"/a","status":7}]"#],
                "The list of stubs can't be read: [1].status is not a status from 100 to 999."
            ),
            ([#"["a",{"json":{}}]"#], "The list of stubs can't be read: [1] has no member \"on\"."),
            ([#"{"on":"/a"}"#], "The list of stubs can't be read: it is not an array."),
            (["7"], "The list of stubs can't be read: it is not an array."),
            (["[]", "?"], "The list of stubs can't be read: it isn't JSON from line 1, column 1 on."),
            ([#"["usres"]"#], #""usres" isn't in the app's table of stubs. The table has: "login", "users"."#),
        ]
        let table: [String: [Stub]] = ["users": [], "login": []]
        for (arguments, text) in cases {
            let message = await refusal(arguments.map { flag + $0 }, defaults: table)
            #expect(message?.hasPrefix(text) == true, "\(message ?? "")")
        }
        #expect(await refusal([flag + #"["users"]"#])?.hasSuffix("The app has no table: pass `defaults:`.") == true)
    }

    @Test func streamsAndDelaysOfStubsBehaveLikeThoseOfATransport() async throws {
        let stubs = LaunchStubs(stubs: [
            .on(.get, "/a", .stream([Data("a".utf8), Data("b".utf8)])), .on(.get, "/slow", .neverAnswer),
        ])
        let client = launched(try stubs.launchArguments)
        var request = HTTPRequest(url: url("/a"), context: .with(\.responseBody, .streamed))
        let response = try await client.send(request)
        #expect(!response.body.isRestartable)
        #expect(try await response.body.collect(upTo: 10) == Data("ab".utf8))
        request = HTTPRequest(url: url("/slow"), context: .with(\.timeouts, Timeouts(total: .milliseconds(1))))
        let error = await #expect(throws: TransportError.self) { try await client.send(request) }
        #expect(error?.code == .timedOut)
    }

    @Test func journalNamesTheSource() async throws {
        func explained(_ arguments: [String]) async throws -> String {
            let journal = Journal()
            let transport: SwitchingTransport = .launchStubs(allowed: true, otherwise: network, arguments: arguments)
            let client = Client(
                baseURL: url("https://a.example"),
                interceptors: [],
                transport: transport,
                observer: journal
            )
            try await client.get("/a")
            return journal.calls.map(\.explained).joined()
        }
        let stubs = try LaunchStubs(stubs: [.on(.get, "/a", .status(204))]).launchArguments
        #expect(try await explained(stubs).contains("source: stubs: StubTransport"))
        #expect(try await explained([]).contains("source: other: StubTransport"))
    }
}
