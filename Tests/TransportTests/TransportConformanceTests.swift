import Foundation
import Testing
import Transport
import TransportTesting

@Suite(.againstHanging, .heavy) struct TransportConformanceTests {
    // Rules that Foundation breaks, as the documentation of URLSessionTransport says.
    #if canImport(FoundationNetworking)
    private static let beyondFoundation: Set = [
        "repeatedFieldsStayApart",
        // These crash the process.
        "aConnectionClosedWithinTheHeadIsAnError", "trailersAreNotTakenForFields",
    ]
    #else
    private static let beyondFoundation: Set = ["repeatedFieldsStayApart"]
    #endif

    @Test(
        .againstHanging,
        arguments: TransportConformance.rules.filter { !Self.beyondFoundation.contains($0.name) }
    )
    func urlSessionTransportKeepsItsPromises(rule: TransportConformance.Rule) async throws {
        try await rule.check { time in URLSessionTransport(time: time) }
    }

    #if os(Linux)
    @Test(.againstHanging, arguments: TransportConformance.rules)
    func curlTransportKeepsItsPromises(rule: TransportConformance.Rule) async throws {
        try await rule.check { time in
            var configuration = CurlTransport.Configuration()
            configuration.time = time
            return CurlTransport(configuration)
        }
    }
    #endif

    @Test(.againstHanging, arguments: TransportConformance.rulesInMemory)
    func stubTransportKeepsItsPromises(rule: TransportConformance.Rule) async throws {
        try await rule.check(inMemory: { time, answer in StubTransport(time: time, answer) })
    }

    /// A stub that forwards requests to another transport keeps the same promises as that transport.
    @Test(.againstHanging, arguments: TransportConformance.rulesInMemory)
    func stubTransportWithAFallbackKeepsItsPromises(rule: TransportConformance.Rule) async throws {
        try await rule.check(inMemory: { time, answer in
            StubTransport(fallback: StubTransport(time: time, answer), time: time)
        })
    }

    @Test func exemptionsAreOfRulesThatExist() {
        #expect(Self.beyondFoundation.isSubset(of: TransportConformance.rules.map(\.name)))
        #expect(Set(TransportConformance.rules).count == TransportConformance.rules.count)
    }

    @Test func ruleThatNeedsConnectionsIsNotPassedInMemory() async throws {
        let rule = try #require(TransportConformance.rules.first { $0.needsConnections })
        let error = await #expect(throws: (any Error).self) {
            try await rule.check(inMemory: { time, answer in StubTransport(time: time, answer) })
        }
        #expect(error.map { "\($0)" } == "\(rule.name) can't be checked in memory: it needs connections.")
    }
}

/// The suite detects broken promises: each transport here is wrong in one way.
@Suite(.againstHanging) struct TransportConformanceViolationTests {
    private struct Bent: Transport {
        let base: any Transport
        let bend: @Sendable (consuming HTTPRequest, any Transport) async throws -> HTTPResponse
        func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { try await bend(request, base) }
    }

    private func broken(
        _ bend: @escaping @Sendable (consuming HTTPRequest, any Transport) async throws -> HTTPResponse
    ) async -> Set<String> {
        await withTaskGroup(of: String?.self) { group in
            for rule in TransportConformance.rulesInMemory {
                group.addTask {
                    do {
                        try await rule.check(inMemory: { time, answer in
                            Bent(base: StubTransport(time: time, answer), bend: bend)
                        })
                        return nil
                    } catch {
                        return rule.name
                    }
                }
            }
            return await group.reduce(into: []) { names, name in if let name { names.insert(name) } }
        }
    }

    @Test(.againstHanging) func transportThatFollowsRedirectsIsSeen() async throws {
        let names = await broken { request, base in
            let copy = request
            let response = try await base.send(copy)
            guard let location = response.headerFields[.location], let url = URL(string: location, relativeTo: copy.url)
            else { return response }
            var next = copy
            next.url = url.absoluteURL
            return try await base.send(next)
        }
        #expect(names == ["redirectsAreNotFollowed"])
    }

    @Test(.againstHanging) func transportThatRetriesIsSeen() async {
        let names = await broken { request, base in
            let copy = request
            let response = try await base.send(copy)
            return response.status == 503 ? try await base.send(copy) : response
        }
        #expect(names == ["statusesThatInviteAnotherAttemptAreNotRetried"])
    }

    @Test(.againstHanging) func transportThatJoinsFieldsIsSeen() async {
        let names = await broken { request, base in
            var response = try await base.send(request)
            var joined = HTTPFields()
            for field in response.headerFields where !joined.contains(field.name) {
                joined[field.name] = response.headerFields[values: field.name].joined(separator: ", ")
            }
            response.headerFields = joined
            return response
        }
        #expect(names == ["repeatedFieldsStayApart"])
    }

    @Test(.againstHanging) func transportThatForgetsTheURLIsSeen() async {
        let names = await broken { request, base in
            var response = try await base.send(request)
            response.url = nil
            return response
        }
        #expect(names == ["sendsMethodTargetFieldsAndBody"])
    }

    @Test(.againstHanging) func transportThatWrapsCancellationIsSeen() async {
        let names = await broken { request, base in
            do {
                return try await base.send(request)
            } catch is CancellationError {
                throw TransportError(.transportFailed, "Cancelled.")
            }
        }
        #expect(
            names == [
                "aCancelledCallEndsAtOnce", "aCallCancelledBeforeItBeginsSendsNothing",
                "cancellingOneCallLeavesTheOthersAlone",
            ]
        )
    }
}
