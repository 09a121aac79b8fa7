import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsSyntax

@Suite(.againstHanging) struct ByteOrderMarkTests {
    @Test(
        arguments: [
            ([0xEF, 0xBB, 0xBF, 0x7B], .utf8), ([0xFF, 0xFE, 0, 0], .utf32LittleEndian),
            ([0xFF, 0xFE, 0, 1], .utf16LittleEndian),
            ([0, 0, 0xFE, 0xFF], .utf32BigEndian), ([0xFE, 0xFF], .utf16BigEndian), ([0xEF, 0xBB], nil), ([], nil),
        ] as [([UInt8], String.Encoding?)]
    )
    func theMarkNamesTheEncoding(_ bytes: [UInt8], _ encoding: String.Encoding?) {
        #expect(ByteOrderMark.beginning(bytes)?.encoding == encoding)
        #expect(ByteOrderMark.lengthOfUTF8(bytes) == (encoding == .utf8 ? 3 : 0))
    }
}
