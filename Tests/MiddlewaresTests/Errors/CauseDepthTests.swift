import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTransport

/// Errors whose causes have no end, or nearly none.
@Suite(.againstHanging) struct CauseDepthTests {
    private final class Circle: HTTPError {
        let code = HTTPErrorCode(rawValue: "circle")
        let message = "Round and round."
        var underlying: (any Error)? { self }
        let request: HTTPRequest.Summary? = nil
        let response: HTTPResponse? = nil
        var context: HTTPContext {
            get { HTTPContext() }
            set {}
        }
    }

    private struct Link: HTTPError {
        let code = HTTPErrorCode(rawValue: "link")
        let message: String
        let underlying: (any Error)?
        let request: HTTPRequest.Summary? = nil
        let response: HTTPResponse? = nil
        var context = HTTPContext()
    }

    private func chain(of length: Int, endingIn end: any Error) -> any HTTPError {
        (0..<length).reversed().reduce(end) { cause, number in Link(message: "Number \(number).", underlying: cause) }
            as! any HTTPError
    }

    @Test func anErrorThatIsItsOwnCauseAnswersEveryQuestion() {
        let circle = Circle()
        #expect(
            circle.description.components(separatedBy: "Circle.circle: Round and round.").count == 1 + CauseDepth.limit
        )
        #expect(circle.description.hasSuffix(" Cause: …"))
        #expect(circle.localizedDescription == "The request failed.")
        #expect(circle.receivedResponse == nil)
        #expect(!circle.isOffline && !circle.isTimeout && !circle.isCancelled && !circle.isUnauthorized)
        #expect(!circle.isServerFault)
        #expect(!OutcomeCondition.temporaryFailure.matches(.failure(circle), to: HTTPRequest(url: apiURL)))
        #expect(!OutcomeCondition.hostFailure.matches(.failure(circle), to: HTTPRequest(url: apiURL)))
        var dumped = ""
        dump(circle, to: &dumped)
        #expect(dumped.contains("…"))
    }

    @Test func aLongChainOfCausesIsCutOff() {
        let error = chain(of: 1_000, endingIn: TransportError(.timedOut, "Late."))
        #expect(error.description.contains("Number 15.") && !error.description.contains("Number 16."))
        #expect(error.description.hasSuffix("Number 15. Cause: …"))
        #expect(error.localizedDescription == "The request failed.")
        #expect(!error.isTimeout && error.response == nil)
    }

    @Test(arguments: [(15, true), (16, false)]) func sixteenErrorsAreLookedAt(links: Int, isFound: Bool) {
        let timeout = chain(of: links, endingIn: TransportError(.timedOut, "Late."))
        #expect(timeout.isTimeout == isFound)
        #expect(timeout.description.contains("Late.") == isFound)
        #expect(OutcomeCondition.code(.timedOut).matches(.failure(timeout), to: HTTPRequest(url: apiURL)) == isFound)
        let refusal = EnvelopeError(.envelopeFailure, status: 401, url: apiURL)
        #expect(chain(of: links, endingIn: refusal).receivedResponse?.status == (isFound ? 401 : nil))
    }

    // The level is counted for each chain of causes, not for the task.
    @Test func theCauseOfOneErrorDoesNotCountForTheNext() {
        let errors = (0..<40).map { _ in chain(of: 10, endingIn: TransportError(.timedOut, "Late.")) }
        for error in errors { #expect(error.description.contains("Late.")) }
    }
}
