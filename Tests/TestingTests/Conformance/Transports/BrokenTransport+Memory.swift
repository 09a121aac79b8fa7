import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import Synchronization

/// Faults that need no connections: one for each rule in memory.
extension BrokenTransport {
    static let inMemory = messages + uploads + contents + restraint + limits + ends

    private static let messages: [Self] = [
        Self("sendsMethodTargetFieldsAndBody") { request, send in
            var response = try await send(request)
            response.url = nil
            return response
        },
        Self("aForbiddenRequestIsNotSent") { request, send in
            var request = request
            request.context.sendingForbidden = nil
            return try await send(request)
        },
        Self("injectedFieldsAreRefusedBeforeAnythingIsSent") { request, send in
            var request = request
            if request.headers["X-A"]?.contains("\0") == true { request.headers.remove("X-A") }
            return try await send(request)
        },
        Self("onlyHTTPIsSpoken") { request, send in
            if request.url.isFileURL { return HTTPResponse(status: 200, url: request.url) }
            return try await send(request)
        },
        Self("refusalsNameTheRequestWithoutItsSecrets") { request, send in
            do {
                return try await send(request)
            } catch let error as TransportError where error.code == .invalidRequest {
                throw TransportError(.invalidRequest, "The request is invalid.")
            }
        },
        Self("everyStatusIsAResponseWithItsContent") { request, send in
            let response = try await send(request)
            guard response.status != 418 else { throw TransportError(.transportFailed, "A strange status.") }
            return response
        },
        Self("statusesWithoutContentHaveNone") { request, send in
            var response = try await send(request)
            if response.status == 205 { response.body = "Reset." }
            return response
        },
        Self("headHasFieldsButNoContent") { request, send in
            var response = try await send(request)
            if request.method == .head { response.headers.remove(.contentLength) }
            return response
        },
        Self("repeatedFieldsStayApart") { request, send in
            var response = try await send(request)
            var joined = HTTPFields()
            for field in response.headers where !joined.contains(field.name) {
                joined[field.name] = response.headers[values: field.name].joined(separator: ", ")
            }
            response.headers = joined
            return response
        },
    ]

    private static let uploads: [Self] = [
        Self("sendsStreamsAndFiles") { request, send in
            var request = request
            if request.body.length == 300_000 {
                request.body = HTTPBody(try await request.body.collect(upTo: 1 << 20).dropLast())
            }
            return try await send(request)
        },
        Self("anEmptyFileOrStreamIsNoContent") { request, send in
            var request = request
            if request.method == .delete, request.body.isEmpty { request.body = "0" }
            return try await send(request)
        },
        Self("aOneShotBodyIsNotSentTwice") { request, send in
            do {
                return try await send(request)
            } catch let error as TransportError where error.code == .bodyNotReplayable {
                var request = request
                request.body = .empty
                return try await send(request)
            }
        },
        Self("aBodyThatFailsFailsTheCall") { request, send in
            do {
                return try await send(request)
            } catch  where !(error is any HTTPError) && !(error is CancellationError) {
                return HTTPResponse(status: 200, url: request.url)
            }
        },
        Self("theErrorOfABodysOwnRequestIsNotTheExchanges") { request, send in
            do {
                return try await send(request)
            } catch let error as TransportError where error.underlying is any HTTPError {
                throw error.underlying ?? error
            }
        },
        Self("aBodyThatIsNotAsLongAsAnnouncedFailsTheCall") { request, send in
            do {
                return try await send(request)
            } catch let error as TransportError where error.code == .bodyLengthMismatch {
                return HTTPResponse(status: 200, url: request.url)
            }
        },
    ]

    private static let contents: [Self] = [
        Self("chunkedContentIsPutTogether") { request, send in
            var response = try await send(request)
            if response.body.data == Data("one two three".utf8) { response.body = "one two " }
            return response
        },
        Self("aStreamBeginsBeforeItsEnd") { request, send in
            var response = try await send(request)
            guard response.body.length == 10, response.body.data == nil else { return response }
            // Holds back what has arrived until more arrives.
            let stream = AlteredStream(body: response.body).dropFirst()
            response.body = response.body.wrapped(length: 10) { _ in stream }
            return response
        },
        Self("progressIsReported") { request, send in
            var request = request
            request.context.uploadProgress = nil
            return try await send(request)
        },
    ]

    private static let restraint: [Self] = [
        Self("redirectsAreNotFollowed") { request, send in
            let response = try await send(request)
            guard let location = response.headers[.location],
                let url = URL(string: location, relativeTo: request.url)
            else { return response }
            var next = request
            next.url = url.absoluteURL
            return try await send(next)
        },
        Self("statusesThatInviteAnotherAttemptAreNotRetried") { request, send in
            let response = try await send(request)
            return response.status == 503 ? try await send(request) : response
        },
        Self("cookiesAreNotKept") {
            let jar = Shared<String?>(nil)
            return { request, send in
                var request = request
                if let cookie = jar.value { request.headers[.cookie] = cookie }
                let response = try await send(request)
                if let cookie = response.headers[.setCookie] { jar.value = cookie }
                return response
            }
        },
        Self("nothingIsCached") {
            let kept = Shared<HTTPResponse?>(nil)
            return { request, send in
                if let response = kept.value { return response }
                let response = try await send(request)
                if response.headers.contains(.cacheControl) { kept.value = response }
                return response
            }
        },
    ]

    private static let limits: [Self] = [
        Self("aBufferedResponseKeepsToItsLimit") { request, send in
            var request = request
            if request.context.responseBody != .streamed { request.context.responseBody = .buffered }
            return try await send(request)
        },
        // The clock that the rule moves has nothing to end, so these two wait for ever.
        Self("theWholeCallHasALimit") { request, send in
            var request = request
            request.context.timeouts?.total = nil
            return try await send(request)
        },
        Self("silenceHasALimit") { request, send in
            var request = request
            request.context.timeouts?.idle = nil
            return try await send(request)
        },
    ]
}

/// Calls that end wrongly, and calls that disturb each other.
extension BrokenTransport {
    private static let ends: [Self] = [
        Self("aCancelledCallEndsAtOnce") { request, send in
            // Forgets a cancelled exchange, which goes on.
            try Task.checkCancellation()
            let exchange = Task { try await send(request) }
            let (outcomes, outcome) = AsyncStream.makeStream(of: Result<HTTPResponse, any Error>.self)
            Task { outcome.yield(await exchange.result) }
            guard let first = await outcomes.first(where: { _ in true }) else { throw CancellationError() }
            return try first.get()
        },
        Self("aCallCancelledBeforeItBeginsSendsNothing") { request, send in
            Task.isCancelled ? try await Task { try await send(request) }.value : try await send(request)
        },
        Self("aCancelledReaderEndsItsTransfer") { request, send in
            var response = try await send(request)
            guard response.body.data == nil else { return response }
            response.body = response.body.wrapped(length: response.body.length) { body in
                AlteredStream(body: body) { error in
                    error is CancellationError ? TransportError(.connectionLost, "The reader left.") : error
                }
            }
            return response
        },
        Self("aDiscardedBodyEndsItsTransfer") { request, send in
            var response = try await send(request)
            guard response.body.data == nil else { return response }
            response.body = .oneShot(AlteredStream(body: response.body), length: response.body.length, onDiscard: {})
            return response
        },
        Self("aDroppedBodyEndsItsTransfer") {
            let kept = Shared<[HTTPBody]>([])
            return { request, send in
                let response = try await send(request)
                kept.value = [response.body]
                return response
            }
        },
        Self("cancellingOneCallLeavesTheOthersAlone") {
            let calls = Calls()
            return { request, send in
                try Task.checkCancellation()
                let call = Task { try await send(request) }
                calls.add(call)
                defer { calls.remove(call) }
                return try await withTaskCancellationHandler {
                    try await call.value
                } onCancel: {
                    calls.cancelAll()
                }
            }
        },
        Self("callsAtTheSameTimeGetTheirOwnAnswers") {
            let current = Shared<HTTPRequest?>(nil)
            return { request, send in
                guard request.method == .post else { return try await send(request) }
                current.value = request
                await Task.yield()
                return try await send(current.value ?? request)
            }
        },
    ]

    private final class Calls: Sendable {
        private let calls = Mutex<Set<Task<HTTPResponse, any Error>>>([])
        func add(_ call: Task<HTTPResponse, any Error>) { calls.withLock { _ = $0.insert(call) } }
        func remove(_ call: Task<HTTPResponse, any Error>) { calls.withLock { _ = $0.remove(call) } }
        func cancelAll() { for call in calls.withLock({ $0 }) { call.cancel() } }
    }
}
