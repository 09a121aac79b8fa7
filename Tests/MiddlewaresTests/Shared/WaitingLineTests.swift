import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct WaitingLineTests {
    @Test func firstInIsFirstOut() {
        var line = WaitingLine<String>()
        for ticket in 1...3 { line.join(ticket, "\(ticket)") }
        #expect(line.first == 1)
        #expect(line.count == 3)
        #expect((1...3).map { _ in line.removeFirst()?.waiter } == ["1", "2", "3"])
        #expect(line.removeFirst() == nil)
        #expect(line.isEmpty)
    }

    @Test func whoLeavesIsPassedOver() {
        var line = WaitingLine<String>()
        for ticket in 1...5 { line.join(ticket, "\(ticket)") }
        #expect(line.remove(3) == "3")
        #expect(line.remove(1) == "1")
        #expect(line.remove(1) == nil)
        #expect(line.first == 2)
        #expect(line.removeFirst()?.ticket == 2)
        #expect(line.first == 4)
        #expect(line.remove(5) == "5")
        #expect(line.removeFirst()?.ticket == 4)
        #expect(line.first == nil)
    }

    @Test(arguments: 0..<10)
    func anyOrderOfEventsIsThatOfAnArray(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var line = WaitingLine<Int>()
        var model: [Int] = []
        for ticket in 1...3000 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                line.join(ticket, ticket)
                model.append(ticket)
            case 2:
                #expect(line.removeFirst()?.waiter == (model.isEmpty ? nil : model.removeFirst()))
            default:
                let chosen = model.randomElement(using: &random) ?? 0
                #expect(line.remove(chosen) == (chosen == 0 ? nil : chosen))
                model.removeAll { $0 == chosen }
            }
            #expect(line.first == model.first)
            #expect(line.count == model.count)
        }
    }
}
