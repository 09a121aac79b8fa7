import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging, .heavy) struct RecordingConformanceTests {
    #if os(Linux)
    private static func curl(_ time: TimeSource) -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.time = time
        return CurlTransport(configuration)
    }

    @Test(.againstHanging, arguments: TransportConformance.rules)
    func modeLiveKeepsThePromisesOfTheTransport(rule: TransportConformance.Rule) async throws {
        let tape = try TapeFile()
        try await rule.check { time in .recorded(tape.recording(.live, time: time), over: Self.curl(time)) }
        #expect(tape.names.isEmpty)
    }

    @Test(.againstHanging, arguments: TransportConformance.rules)
    func modeAllKeepsThePromisesOfTheTransport(rule: TransportConformance.Rule) async throws {
        let tape = try TapeFile()
        try await rule.check { time in .recorded(tape.recording(.all, time: time), over: Self.curl(time)) }
    }
    #endif

    @Test(.againstHanging, arguments: TransportConformance.rulesInMemory)
    func modeNewKeepsThePromisesOfATransportInMemory(rule: TransportConformance.MemoryRule) async throws {
        let tape = try TapeFile()
        try await rule.check { time, answer in
            .recorded(tape.recording(.new, time: time), over: StubTransport(time: time, answer))
        }
    }
}
