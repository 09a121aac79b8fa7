import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct HTTPContextTests {
    private enum Priority: HTTPContextKey { static var defaultValue: Int { 7 } }
    private enum Label: HTTPContextKey { static var defaultValue: String? { "none" } }
    private enum Other: HTTPContextKey { static var defaultValue: Int { 1 } }
    private enum Work: HTTPContextKey { static var defaultValue: (@Sendable () -> Int)? { nil } }

    @Test func whatWasNotSetHasItsDefault() {
        let context = HTTPContext()
        #expect(context.isEmpty)
        #expect(context[Priority.self] == 7)
        #expect(context[Label.self] == "none")
        #expect(context.timeouts == nil)
        #expect(context.responseBody.bufferLimit == 64 << 20)
        #expect(context.uploadProgress == nil)
    }

    @Test func keysOfTheSameTypeAreToldApart() {
        var context = HTTPContext()
        context[Priority.self] = 2
        #expect(context[Priority.self] == 2)
        #expect(context[Other.self] == 1)
        context[Other.self] = 3
        context[Priority.self] = 4
        #expect(context[Priority.self] == 4)
        #expect(context[Other.self] == 3)
        #expect(!context.isEmpty)
    }

    @Test func nilIsAValueLikeAnother() {
        var context = HTTPContext()
        context[Label.self] = nil
        #expect(context[Label.self] == nil)
        context[Label.self] = "x"
        #expect(context[Label.self] == "x")
    }

    @Test func closuresCanBeCarried() {
        var context = HTTPContext()
        context[Work.self] = { 42 }
        #expect(context[Work.self]?() == 42)
        context[Work.self] = nil
        #expect(context[Work.self] == nil)
    }

    @Test func aCopyIsIndependent() {
        var context = HTTPContext()
        context[Priority.self] = 1
        var copy = context
        copy[Priority.self] = 2
        #expect(context[Priority.self] == 1)
    }

    @Test func copiesThatShareValuesGoTheirOwnWays() {
        var context = HTTPContext()
        context[Priority.self] = 1
        context[Label.self] = "a"
        context[Other.self] = 2
        var (left, right) = (context, context)
        left[Priority.self] = 10
        left[Work.self] = { 1 }
        right[Label.self] = "b"
        right[Priority.self] = 20
        right[Priority.self] = 21
        #expect(context[Priority.self] == 1 && context[Label.self] == "a" && context[Other.self] == 2)
        #expect(left[Priority.self] == 10 && left[Label.self] == "a" && left[Other.self] == 2)
        #expect(right[Priority.self] == 21 && right[Label.self] == "b" && right[Other.self] == 2)
        #expect(left[Work.self]?() == 1 && right[Work.self] == nil)
    }

    @Test func aValueSetAgainTakesThePlaceOfTheOldOne() {
        final class Mark: Sendable {}
        enum Marks: HTTPContextKey { static var defaultValue: Mark? { nil } }
        var context = HTTPContext()
        var first = Mark()
        context[Marks.self] = first
        context[Priority.self] = 1
        context[Marks.self] = Mark()
        let isHeldByNobodyElse = isKnownUniquelyReferenced(&first)
        #expect(isHeldByNobodyElse)
        for number in 0..<1_000 {
            if number % 2 == 0 { context[Priority.self] = number } else { context[Other.self] = number }
        }
        #expect(context.description == "3 values")
        #expect(context[Priority.self] == 998 && context[Other.self] == 999)
    }

    @Test func progressIsAShareWhereTheTotalIsKnown() {
        #expect(TransferProgress(completed: 5, total: 10).fraction == 0.5)
        #expect(TransferProgress(completed: 20, total: 10).fraction == 1)
        #expect(TransferProgress(completed: 0, total: 0).fraction == 1)
        #expect(TransferProgress(completed: 5, total: nil).fraction == nil)
    }
}
