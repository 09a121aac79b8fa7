import Foundation
import InterceptorsTestSupport
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct HTTPTrailersTests {
    @Test func sourceThatDoesNotReportTrailersIsToldApartFromNoTrailers() throws {
        var response = HTTPResponse(status: 200)
        let error = #expect(throws: TransportError.self) { try response.trailers }
        #expect(error?.code == .trailersUnavailable)
        response.context.trailers = HTTPTrailers([:])
        #expect(try response.trailers.isEmpty)
    }

    @Test func pendingTrailersAreUnknownUntilTheyAreReceivedOnce() throws {
        var response = HTTPResponse(status: 200)
        let trailers = HTTPTrailers.pending()
        response.context.trailers = trailers
        let error = #expect(throws: TransportError.self) { try response.trailers }
        #expect(error?.code == .trailersNotReceived)
        trailers.receive(["X-A": "1"])
        trailers.receive(["X-A": "2"])
        #expect(try response.trailers == ["X-A": "1"])
    }

    @Test func sourceMayFindOnlyAtTheEndThatItCannotTell() throws {
        var response = HTTPResponse(status: 200)
        let trailers = HTTPTrailers.pending()
        response.context.trailers = trailers
        trailers.receive(nil)
        trailers.receive(["X-A": "1"])
        let error = #expect(throws: TransportError.self) { try response.trailers }
        #expect(error?.code == .trailersUnavailable)
        #expect("\(trailers)" == "unavailable")
    }

    @Test func knownTrailersStay() throws {
        let trailers = HTTPTrailers(["X-A": "1"])
        trailers.receive(["X-A": "2"])
        #expect(trailers.fields == ["X-A": "1"])
    }

    @Test(arguments: [
        "content-length", "Transfer-Encoding", "TE", "Trailer", "Host", "Authorization", "Set-Cookie", "Cookie",
        "WWW-Authenticate", "Content-Type", "Content-Encoding", "Content-Range", "Cache-Control", "Vary", "Location",
        "Age",
    ])
    func fieldThatNoTrailerMayHoldIsRemoved(name: String) throws {
        let field = HTTPField(unchecked: try #require(HTTPField.Name(name)), "1")
        let fields = HTTPFields([HTTPField(unchecked: "X-A", "1"), field, HTTPField(unchecked: "X-B", "2")])
        #expect(HTTPTrailers(fields).fields == ["X-A": "1", "X-B": "2"])
        let pending = HTTPTrailers.pending()
        pending.receive(fields)
        #expect(pending.fields == ["X-A": "1", "X-B": "2"])
    }

    @Test(arguments: ["Repr-Digest", "Content-Digest", "ETag", "Server-Timing", "Authentication-Info", "grpc-status"])
    func fieldThatMayFollowTheContentIsKept(name: String) throws {
        let field = HTTPField(unchecked: try #require(HTTPField.Name(name)), "1")
        #expect(HTTPTrailers([field]).fields == [field])
    }

    @Test func fieldWithAControlCharacterIsRemoved() {
        #expect(HTTPTrailers(["X-A": "a\r\nb: c", "X-B": "2"]).fields == ["X-B": "2"])
    }

    @Test func secretsAreNotPrinted() {
        let trailers = HTTPTrailers(["X-Api-Key": "hush", "X-A": "seen"])
        var text = "\(trailers)"
        dump(trailers, to: &text)
        #expect(!text.contains("hush"), "\(text)")
        #expect(text.contains("seen"))
    }

    @Test func interimStatusIsOneOfOneHundredTo199Except101() throws {
        for code in [100, 102, 103, 104, 199] {
            #expect(try #require(HTTPResponse.Status(code: code)).isInterim)
        }
        for status in [HTTPResponse.Status(integerLiteral: 101), 200, 304, 999] {
            #expect(!status.isInterim)
        }
    }
}
