import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Error {
    // An app may have had such a property before it used this package.
    fileprivate var isServerFault: String { "the app's own" }
}

@Suite(.againstHanging) struct ErrorQuestionsTests {
    private struct Wrapper: HTTPError {
        var code = HTTPErrorCode(rawValue: "wrapped")
        let message = "It failed."
        let underlying: (any Error)?
        let request: HTTPRequest.Summary? = nil
        let response: HTTPResponse? = nil
        var context = HTTPContext()
    }

    private struct Plain: Error {}

    private enum Refusal: Error { case token(String) }
    private struct LogInError: Error { let reason: Refusal }

    private struct AuthorsError: HTTPError {
        let code: HTTPErrorCode
        let message = "It failed."
        var response: HTTPResponse?
        let request: HTTPRequest.Summary? = nil
        let underlying: (any Error)? = nil
        var context = HTTPContext()

        init(_ code: HTTPErrorCode = HTTPErrorCode(rawValue: "failed"), _ status: HTTPResponse.Status? = nil) {
            self.code = code
            response = status.map { HTTPResponse(status: $0) }
        }
    }

    private func error(_ code: HTTPErrorCode, _ cause: (any Error)? = nil) -> TransportError {
        TransportError(code, "It failed.", underlying: cause)
    }

    private func answers(_ error: any Error) -> [Bool] {
        [error.isOffline, error.isTimeout, error.isCancelled, error.isUnauthorized]
    }

    @Test func eachQuestionIsAnsweredByTheErrorOrItsCauses() throws {
        let none = [false, false, false, false]
        let (offline, timeout, cancelled) = (
            [true, false, false, false], [false, true, false, false], [false, false, true, false]
        )
        let rows: [(any Error, [Bool])] = [
            (Plain(), none), (error(.cannotConnect), none), (error(.cannotFindHost), none),
            (URLError(.notConnectedToInternet), offline), (URLError(.dataNotAllowed), offline),
            (error(.cannotConnect, URLError(.notConnectedToInternet)), offline),
            (error(.cannotConnect, POSIXError(.ENETUNREACH)), offline),
            (error(.connectionLost, NSError(domain: NSPOSIXErrorDomain, code: Int(ENETDOWN))), offline),
            (error(.cannotConnect, POSIXError(.ECONNREFUSED)), none), (error(.offline), offline),
            (error(.timedOut), timeout), (URLError(.timedOut), timeout), (POSIXError(.ETIMEDOUT), timeout),
            (CancellationError(), cancelled), (URLError(.cancelled), cancelled),
            (AuthenticationError.refreshCancelled, none),
            (AuthenticationError.signedOut(because: Plain()), [false, false, false, true]),
            (AuthorsError(.offline), offline), (AuthorsError(.timedOut), timeout), (AuthorsError(), none),
            (AuthorsError(HTTPErrorCode(rawValue: "cancelled")), none),
            (AuthorsError(HTTPErrorCode(rawValue: "failed"), 401), [false, false, false, true]),
            (AuthorsError(.timedOut, 401), [false, true, false, true]), (AuthorsError(.connectionLost, 403), none),
        ]
        for (error, expected) in rows {
            #expect(answers(error) == expected, "\(error)")
            #expect(answers(Wrapper(underlying: Wrapper(underlying: error))) == expected, "\(error)")
        }
    }

    @Test func aWrappedErrorIsDescribedByItsCause() {
        let offline = Wrapper(underlying: error(.cannotConnect, URLError(.notConnectedToInternet)))
        #expect(offline.localizedDescription == "The Internet connection appears to be offline.")
        #expect(Wrapper(underlying: error(.timedOut)).localizedDescription == "The request timed out.")
        #expect(Wrapper(underlying: error(.tlsFailed)).localizedDescription.contains("secure connection"))
        #expect(Wrapper(underlying: Plain()).localizedDescription == "The request failed.")
    }

    @Test func aCausesOwnDescriptionIsShown() {
        let cause = PinningError(host: "h", expected: [], chain: [])
        #expect(cause.description.hasPrefix("The chain of h"))
        #expect(Wrapper(underlying: cause).description == "Wrapper.wrapped: It failed. Cause: \(cause)")
    }

    // The source of an upload may send requests itself.
    @Test func theErrorOfABodysSourceSaysNothingAboutTheServer() {
        let failure = error(.bodySourceFailed, AuthorsError(.timedOut, 401))
        for error in [failure, Wrapper(underlying: failure)] as [any HTTPError] {
            #expect(answers(error) == [false, false, false, false])
            #expect(error.response == nil)
            #expect(error.description.contains("Cause: AuthorsError.timedOut: It failed."))
        }
    }

    @Test func anAppsOwnPropertyTakesPrecedence() {
        #expect(Plain().isServerFault == "the app's own")
    }

    @Test func aCauseOfAnotherKindIsRedacted() throws {
        let url = try url("https://ada:hush@h.example/?token=hush")
        let cause = URLError(
            .badURL,
            userInfo: [NSURLErrorFailingURLErrorKey: url, "NSErrorFailingURLStringKey": "\(url)"]
        )
        #expect(!Wrapper(underlying: cause).description.contains("hush"))
        #expect(Wrapper(underlying: Refusal.token("hush")).description.hasSuffix(" Cause: Refusal.token(…)"))
        let nested = LogInError(reason: .token("hush"))
        #expect(Wrapper(underlying: nested).description.hasSuffix(" Cause: LogInError"))
        let timeout = Wrapper(underlying: URLError(.timedOut)).description
        #expect(timeout.contains("-1001"), "\(timeout)")
    }
}
