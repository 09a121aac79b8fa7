import Testing
import Transport

@Suite struct HTTPContextTests {
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

    @Test func progressIsAShareWhereTheTotalIsKnown() {
        #expect(TransferProgress(completed: 5, total: 10).fraction == 0.5)
        #expect(TransferProgress(completed: 20, total: 10).fraction == 1)
        #expect(TransferProgress(completed: 0, total: 0).fraction == 1)
        #expect(TransferProgress(completed: 5, total: nil).fraction == nil)
    }
}
