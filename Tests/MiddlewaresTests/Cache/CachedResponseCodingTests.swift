import Foundation
import Interceptors
import InterceptorsTesting
import Testing

@Suite(.againstHanging) struct CachedResponseCodingTests {
    private func response(_ status: HTTPResponse.Status = 203) -> CachedResponse {
        CachedResponse(
            status: status,
            headers: ["set-cookie": "a", "Set-Cookie": "b", .date: "Thu, 01 Jan 1970 00:00:00 GMT"],
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
            #expect(again.headers.map(\.name.rawName) == ["set-cookie", "Set-Cookie", "Date"])
        }
    }

    @Test(arguments: [
        (#""status":203"#, #""status":20"#), (#""initialAge":7"#, #""initialAge":-7"#),
        (#""Date""#, #""Da te""#), (#"["Accept-Language","de"]"#, #"["Accept-Language","de\n"]"#),
        (#""responseTime":-3,"#, ""), (#""responseTime":-3,"#, #""responseTime":-9223372036854775808,"#),
        (#""responseTime":-3,"#, #""responseTime":1000000000001,"#),
    ])
    func malformedResponseIsNotDecoded(part: String, replacement: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = String(decoding: try encoder.encode(response()), as: UTF8.self)
        #expect(json.contains(part))
        let bent = Data(json.replacing(part, with: replacement).utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(CachedResponse.self, from: bent) }
    }

    @Test(arguments: [Int64.min, .max])
    func timeOfArrivalBeyondAllTimeIsStaleAndNoTrap(time: Int64) async throws {
        for fields: HTTPFields in [
            [.expires: "Thu, 01 Jan 2026 00:00:00 GMT"], [.lastModified: "Thu, 01 Jan 1903 00:00:00 GMT"],
        ] {
            let store = MemoryCacheStore()
            let url = try #require(URL(string: "https://api.example.com/"))
            let key = try #require(CacheKey(url: url))
            let stored = CachedResponse(status: 200, headers: fields, initialAge: 0, responseTime: time)
            #expect(try await store.store(Data(), of: stored, for: key, replacing: []) { _ in true })
            let chain = InterceptorChain(
                [.cache(store)],
                transport: StubTransport { _ in HTTPResponse(status: 204) }
            )
            #expect(try await chain.send(HTTPRequest(url: url)).status == 204)
        }
    }
}
