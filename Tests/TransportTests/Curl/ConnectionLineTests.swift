#if os(Linux)
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct ConnectionLineTests {
    private final class Member {}

    /// A line, and its members by name.
    private final class Line {
        private var line: ConnectionLine<String, Member>
        private var members: [String: Member] = [:]

        init(perHost: Int = 0, total: Int = 0) { line = ConnectionLine(.init(perHost: perHost, total: total)) }

        /// The host is the first letter of the name.
        func enter(_ name: String, canShare: Bool = false) -> Bool {
            let member = Member()
            members[name] = member
            return line.enter(member, host: String(name.prefix(1)), canShare: canShare)
        }

        func leave(_ name: String, canShare: Bool = false) {
            line.leave(host: String(name.prefix(1)), canShare: canShare)
        }

        func giveUp(_ name: String) {
            if let member = members[name] { line.giveUp(member, host: String(name.prefix(1))) }
        }

        func noteMultiplexing(_ host: String) { line.noteMultiplexing(host: host) }

        /// The names of those whose turn has come, in order.
        func turns() -> [String] {
            var names: [String] = []
            while let member = line.next() { names += members.filter { $0.value === member }.map(\.key) }
            return names
        }
    }

    @Test func thoseBeyondTheLimitOfAHostWaitInOrder() {
        let line = Line(perHost: 2)
        #expect(line.enter("a1") && line.enter("a2"))
        for name in ["a3", "a4", "a5"] { #expect(!line.enter(name)) }
        #expect(line.turns() == [])
        line.leave("a1")
        #expect(line.turns() == ["a3"])
        line.leave("a2")
        line.leave("a3")
        #expect(line.turns() == ["a4", "a5"])
    }

    @Test func oneHostsLineDoesNotHoldUpAnother() {
        let line = Line(perHost: 1)
        #expect(line.enter("a1") && !line.enter("a2") && !line.enter("b1"))
        #expect(line.turns() == ["b1"])
        #expect(!line.enter("b2"))
        line.leave("b1")
        #expect(line.turns() == ["b2"])
    }

    @Test func theLimitOfAllHostsGoesToTheOneThatWaitedLongest() {
        let line = Line(perHost: 2, total: 2)
        #expect(line.enter("a1") && line.enter("a2"))
        #expect(!line.enter("b1") && !line.enter("a3") && !line.enter("c1"))
        line.leave("a2")
        #expect(line.turns() == ["b1"])
        line.leave("b1")
        #expect(line.turns() == ["a3"])
    }

    @Test func whoeverGivesUpLeavesNoPlace() {
        let line = Line(perHost: 1)
        #expect(line.enter("a1") && !line.enter("a2") && !line.enter("a3"))
        line.giveUp("a2")
        line.giveUp("a2")
        line.leave("a1")
        #expect(line.turns() == ["a3"])
        line.leave("a3")
        #expect(line.enter("a4"))
    }

    @Test func requestsThatShareAConnectionDoNotWait() {
        let line = Line(perHost: 1, total: 1)
        #expect(line.enter("a1", canShare: true) && !line.enter("a2", canShare: true))
        #expect(!line.enter("a3") && !line.enter("a4", canShare: true))
        line.noteMultiplexing("a")
        #expect(line.turns() == ["a2", "a4"])
        // It can't share, and the one connection is in use.
        for name in ["a1", "a2"] { line.leave(name, canShare: true) }
        #expect(line.turns() == [])
        line.leave("a4", canShare: true)
        #expect(line.turns() == ["a3"])
        // No connection is left to share.
        #expect(!line.enter("a5", canShare: true))
    }

    @Test func requestsBeyondTheStreamsOfAConnectionWait() {
        let line = Line(perHost: 1)
        #expect(line.enter("a0", canShare: true))
        line.noteMultiplexing("a")
        #expect((1..<100).allSatisfy { line.enter("a\($0)", canShare: true) })
        #expect(!line.enter("a100", canShare: true) && line.turns() == [])
        line.leave("a7", canShare: true)
        #expect(line.turns() == ["a100"])
        #expect(!line.enter("a101", canShare: true))
    }

    @Test func zeroIsNoLimit() {
        let line = Line()
        #expect((0..<1000).allSatisfy { line.enter("a\($0)") })
    }
}
#endif
