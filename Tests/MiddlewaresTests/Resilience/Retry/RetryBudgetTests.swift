import Interceptors
import Testing

@Suite(.againstHanging) struct RetryBudgetTests {
    @Test func reserveIsSpentFirstAndRequestsEarnTheirShare() {
        let budget = RetryBudget(share: 0.1, reserve: 2)
        #expect([budget.withdraw(), budget.withdraw(), budget.withdraw()] == [true, true, false])
        for _ in 0..<9 { budget.deposit() }
        #expect(!budget.withdraw())
        budget.deposit()
        #expect(budget.withdraw())
        #expect(!budget.withdraw())
    }

    @Test func savingsEndAtTheCapacity() {
        let budget = RetryBudget(share: 1, reserve: 1, capacity: 3)
        for _ in 0..<100 { budget.deposit() }
        #expect(budget.available == 3)
        #expect((0..<4).map { _ in budget.withdraw() } == [true, true, true, false])
    }

    @Test func nonsenseIsNoBudget() {
        for share in [0, -1, Double.nan] {
            let budget = RetryBudget(share: share, reserve: -5, capacity: -5)
            budget.deposit()
            #expect(!budget.withdraw())
        }
    }

    @Test func tasksThatDrawAtOnceNeverOverdraw() async {
        let budget = RetryBudget(share: 0, reserve: 50)
        let granted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<400 { group.addTask { budget.withdraw() } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(granted == 50)
    }
}
