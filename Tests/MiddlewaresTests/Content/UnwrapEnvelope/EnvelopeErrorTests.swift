import Foundation
import Interceptors
import Testing

@Suite(.againstHanging) struct EnvelopeErrorTests {
    private let error = EnvelopeError(
        .envelopeFailure,
        serverCode: "E1\u{1B}[31m",
        serverMessage: "Forged\r\nline",
        status: 200,
        body: Data(#"{"message":"x","access_token":"SECRET1","user":{"password":"SECRET2"},"id":7}"#.utf8),
        method: .post,
        url: URL(string: "https://ada:SECRET3@api.example.com/login?token=SECRET4&page=2#SECRET5")
    )

    @Test func noDescriptionNorDumpHoldsASecret() {
        var dumped = ""
        dump(error, to: &dumped)
        let texts = [
            "\(error)", String(reflecting: error), dumped, "\([error])", "\(error as Any)",
        ]
        for text in texts {
            #expect(!text.contains("SECRET"), "\(text)")
            #expect(text.contains("page=2") && text.contains("envelopeFailure") && text.contains("api.example.com"))
        }
    }

    @Test func theBodyStaysAsItCame() {
        #expect(String(decoding: error.body, as: UTF8.self).contains("SECRET1"))
        #expect(error.serverMessage == "Forged\r\nline")
    }

    @Test func aDescriptionIsOneLineWithoutControls() {
        #expect(!error.description.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F })
    }

    @Test func descriptionsAreBounded() {
        let long = String(repeating: "x", count: 100_000)
        let error = EnvelopeError(.envelopeFailure, serverCode: .init(long), serverMessage: long, body: Data(long.utf8))
        #expect(error.description.utf8.count < 1_500)
    }

    @Test func codesAreEqualByTheirText() {
        #expect(Envelope.Code(401) == "401" && Envelope.Code("401") == 401)
        #expect(Envelope.Code("0401") != 401 && Envelope.Code("0401").number == 401)
        #expect(Envelope.Code("TOKEN").number == nil && Envelope.Code("TOKEN") == "TOKEN")
        #expect(Set<Envelope.Code>([401, "401"]).count == 1)
        #expect("\(Envelope.Code("TOKEN"))" == "TOKEN")
    }
}
