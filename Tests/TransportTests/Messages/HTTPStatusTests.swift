import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct HTTPStatusTests {
    @Test(arguments: [100, 200, 299, 418, 599, 600, 999])
    func anyThreeDigitsAreAStatus(code: Int) {
        #expect(HTTPResponse.Status(code: code)?.code == code)
    }

    @Test(arguments: [Int.min, -200, 0, 99, 1000, Int.max])
    func anythingElseIsNone(code: Int) {
        #expect(HTTPResponse.Status(code: code) == nil)
    }

    @Test(
        arguments: [
            (100, .informational), (199, .informational), (200, .successful), (299, .successful), (300, .redirection),
            (399, .redirection), (400, .clientError), (499, .clientError), (500, .serverError), (599, .serverError),
            (600, .unknown), (999, .unknown),
        ] as [(Int, HTTPResponse.Status.Kind)]
    )
    func theFirstDigitTellsTheKind(code: Int, kind: HTTPResponse.Status.Kind) {
        #expect(HTTPResponse.Status(code: code)?.kind == kind)
    }

    @Test func theCodeAloneIsCompared() {
        #expect(HTTPResponse.Status(code: 200, reasonPhrase: "Fine") == 200)
        #expect(
            HTTPResponse.Status(code: 200, reasonPhrase: "Fine").hashValue == HTTPResponse.Status(code: 200).hashValue
        )
        #expect(HTTPResponse.Status(code: 201) != 200)
    }

    @Test func aPhraseIsTheReceivedOrTheRegisteredOne() {
        #expect((404 as HTTPResponse.Status).description == "404 Not Found")
        #expect(HTTPResponse.Status(code: 404, reasonPhrase: "Nope")?.description == "404 Nope")
        #expect(HTTPResponse.Status(code: 404, reasonPhrase: "")?.description == "404")
        #expect((599 as HTTPResponse.Status).description == "599")
        #expect((599 as HTTPResponse.Status).reasonPhrase == "")
    }
}
