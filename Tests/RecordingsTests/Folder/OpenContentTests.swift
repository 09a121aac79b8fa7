import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct OpenContentTests {
    private let closes = Shared(0)

    @Test func aFileThatIsDiscardedWhileItIsReadClosesAfterTheRead() throws {
        let own = Shared<OpenContent?>(nil)
        let content = OpenContent { [closes] _ in
            own.value?.discard()
            #expect(closes.value == 0)
            return Data([1])
        } close: { [closes] in
            closes.value += 1
        }
        own.value = content
        #expect(try content.read(upTo: 1) == Data([1]))
        #expect(closes.value == 1)
        own.value = nil
        #expect(throws: CancellationError.self) { try content.read(upTo: 1) }
        content.discard()
        #expect(closes.value == 1)
    }

    @Test func aFileThatNobodyReadsClosesAtOnce() {
        let content = OpenContent { _ in
            nil
        } close: { [closes] in
            closes.value += 1
        }
        content.discard()
        content.discard()
        #expect(closes.value == 1)
    }
}
