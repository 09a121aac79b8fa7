import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting

@Suite(.againstHanging, .heavy) struct InterceptorConformanceTests {
    @Test(arguments: ConformingInterceptor.all)
    func ourInterceptorsKeepTheRulesOfTheirRoles(ours: ConformingInterceptor) async throws {
        let folder = try TemporaryFolder()
        let example = ours.make(try world(), folder.url)
        for rule in InterceptorConformance.rules(for: example) where !ours.exceptions.contains(rule.description) {
            do {
                try await rule.check(answering: ours.content) { world in
                    world.giveDeadlines { request, limit in
                        request.context.deadline = Deadline(after: limit, time: world.time)
                    }
                    return ours.make(world, folder.url.appending(path: UUID().uuidString))
                }
            } catch {
                Issue.record("\(ours.testDescription) breaks \(error)")
            }
        }
    }

    /// Settings that only show the roles.
    private func world() throws -> InterceptorConformance.World {
        let clock = ManualClock()
        let origin = try #require(Origin(try HTTPRequest(string: "https://api.example.com").url))
        return InterceptorConformance.World(clock: clock, time: .manual(clock), origin: origin, secret: "secret")
    }
}
