import Foundation
import InterceptorsCore
import InterceptorsTestSupport

/// Faults that only show over connections.
extension BrokenTransport {
    static let overConnections = framing + mapping + again + beforeAndAfter

    private static let framing: [Self] = [
        Self("aFragmentIsNotSent") { request, send in
            var request = request
            let text = request.url.absoluteString.replacing("#", with: "%23")
            if let url = URL(string: text) { request.url = url }
            return try await send(request)
        },
        Self("interimResponsesAreNotTakenForTheFinalOne") { request, send in
            var response = try await send(request)
            if response.headers["X-A"] == "final" { response.headers[.link] = "</a.css>" }
            return response
        },
        Self("trailersAreNotTakenForFields") { request, send in
            var response = try await send(request)
            if response.headers["X-A"] == "b", response.body.length == 2 {
                response.headers["X-Trailer"] = "1"
            }
            return response
        },
        Self("everyRequestedCodingIsDecoded") { request, send in
            var response = try await send(request)
            if response.headers["X-A"] == "b", response.body.data?.count == 17 {
                response.headers[.contentLength] = "9"
            }
            return response
        },
        Self("aPartIsAskedForWithoutCoding") { request, send in
            var request = request
            if request.headers.contains(.range) { request.headers[.acceptEncoding] = "gzip" }
            return try await send(request)
        },
        Self("aTruncatedResponseIsAnError") { request, send in
            var response = try await send(request)
            guard response.body.data == nil, response.body.length != 0 else { return response }
            response.body = response.body.wrapped(length: nil) { body in
                AlteredStream(body: body) { error in
                    (error as? TransportError)?.code == .truncated ? nil : error
                }
            }
            return response
        },
        Self("contentMayEndWithItsConnection") { request, send in
            let response = try await send(request)
            if response.body.data == Data("to the end".utf8) { throw TransportError(.truncated, "No length.") }
            return response
        },
    ]

    private static func replacing(
        _ code: HTTPErrorCode,
        as rule: String,
        with error: @escaping @Sendable (HTTPRequest) -> TransportError
    ) -> Self {
        Self(rule) { request, send in
            do {
                return try await send(request)
            } catch let thrown as TransportError where thrown.code == code {
                throw error(request)
            }
        }
    }

    private static let mapping: [Self] = [
        replacing(.cannotConnect, as: "noServerIsAnError") { TransportError(.connectionLost, "Lost.", request: $0) },
        replacing(.cannotFindHost, as: "anUnknownHostIsAnError") { TransportError(.cannotConnect, "No.", request: $0) },
        replacing(.connectionLost, as: "errorsNameTheRequestWithoutItsSecrets") { request in
            TransportError(.connectionLost, "Lost: \(request.url.query() ?? "")", request: request)
        },
        Self("aFailureLeavesTheTransportUsable") {
            let failure = Shared<TransportError?>(nil)
            return { request, send in
                if let failure = failure.value { throw failure }
                do {
                    return try await send(request)
                } catch let error as TransportError {
                    if error.code == .invalidResponse { failure.value = error }
                    throw error
                }
            }
        },
    ]

    private static let beforeAndAfter: [Self] = [
        Self("trailersAreKnownWithTheContent") { request, send in
            var response = try await send(request)
            if let fields = response.context.trailers?.fields, fields.isEmpty { response.context.trailers = nil }
            return response
        },
        Self("theTrailersOfAStreamComeWithItsEnd") { request, send in
            var response = try await send(request)
            if response.body.isUnreadStream, response.context.trailers?.fields == nil {
                response.context.trailers = HTTPTrailers([:])
            }
            return response
        },
        Self("fieldsThatATrailerMustNotHoldAreDropped") { request, send in
            var response = try await send(request)
            if response.context.trailers?.fields == ["X-A": "1"] { response.headers.append(.setCookie, "a=b") }
            return response
        },
        Self("interimResponsesAreTold") { request, send in
            var request = request
            let tell = request.context.interim
            request.context.interim = { if $0.status != 102 { tell?($0) } }
            return try await send(request)
        },
        Self("endlessInterimResponsesAreAnError") { request, send in
            do {
                return try await send(request)
            } catch let error as TransportError where error.message.contains("interim") {
                return HTTPResponse(status: 200, url: request.url)
            }
        },
    ]

    private static let again: [Self] = [
        Self("aRequestThatIsNotIdempotentIsNotSentAgain") { request, send in
            do {
                return try await send(request)
            } catch let error as TransportError where error.code == .connectionLost && request.method == .post {
                return try await send(request)
            }
        },
        Self("aFailureOnAFreshConnectionIsNotRetried") { request, send in
            do {
                return try await send(request)
            } catch let error as TransportError where error.code == .connectionLost && request.method == .get {
                return try await send(request)
            }
        },
        Self("theWholeCallsLimitBoundsTheContentToo") { request, send in
            var request = request
            if request.context.responseBody == .streamed { request.context.timeouts?.total = nil }
            return try await send(request)
        },
        Self("silenceWithinTheContentHasALimit") { request, send in
            var request = request
            if request.context.responseBody == .streamed { request.context.timeouts?.idle = nil }
            return try await send(request)
        },
        Self("everyOneOfManyCallsEndsOnce") { request, send in
            let response = try await send(request)
            if request.url.path == "/ok/100" { throw TransportError(.transportFailed, "Too many.") }
            return response
        },
    ]
}
