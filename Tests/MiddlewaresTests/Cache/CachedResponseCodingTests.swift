import Foundation
import Middlewares
import Testing

@Suite(.againstHanging) struct CachedResponseCodingTests {
    private func response(_ status: HTTPResponse.Status = 203) -> CachedResponse {
        CachedResponse(
            status: status,
            headerFields: ["set-cookie": "a", "Set-Cookie": "b", .date: "Thu, 01 Jan 1970 00:00:00 GMT"],
            selectingFields: [.acceptLanguage: "de"],
            initialAge: 7,
            responseTime: -3,
            needsValidation: true
        )
    }

    @Test func everyStoredPropertyComesBack() throws {
        for status: HTTPResponse.Status in [203, HTTPResponse.Status(code: 299, reasonPhrase: "Special")!] {
            let again = try JSONDecoder().decode(CachedResponse.self, from: JSONEncoder().encode(response(status)))
            #expect(again == response(status))
            #expect(again.status.reasonPhrase == status.reasonPhrase)
            #expect(again.headerFields.map(\.name.rawName) == ["set-cookie", "Set-Cookie", "Date"])
        }
    }

    @Test(arguments: [
        (#""status":203"#, #""status":20"#), (#""initialAge":7"#, #""initialAge":-7"#),
        (#""Date""#, #""Da te""#), (#"["Accept-Language","de"]"#, #"["Accept-Language","de\n"]"#),
        (#""responseTime":-3,"#, ""),
    ])
    func malformedResponseIsNotDecoded(part: String, replacement: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = String(decoding: try encoder.encode(response()), as: UTF8.self)
        #expect(json.contains(part))
        let bent = Data(json.replacing(part, with: replacement).utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(CachedResponse.self, from: bent) }
    }
}
