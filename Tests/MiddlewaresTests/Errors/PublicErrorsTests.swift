import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Testing

@testable import InterceptorsAuthentication
@testable import InterceptorsMiddlewares
@testable import InterceptorsTransport

/// One error of each public type, each about a request with secrets.
@Suite(.againstHanging) struct PublicErrorsTests {
    private static let secretURL = URL(string: "https://ada:hush-1@api.example.com/a?token=hush-2&page=2#hush-3")!
    private static let secretRequest = HTTPRequest(
        method: .post,
        url: secretURL,
        headers: [.authorization: "Bearer hush-4"],
        body: #"{"password":"hush-5"}"#
    )
    private static let secretBody = #"{"access_token":"hush-6","id":7}"#

    private static func errors() async throws -> [any HTTPError] {
        let pin = try CertificatePin(parsing: "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
        return [
            TransportError(.cannotConnect, "No connection.", request: secretRequest),
            PinningError(host: "api.example.com", expected: [pin], chain: []),
            TransportError(.keyMismatch, "The key doesn't belong to the certificate.", request: secretRequest),
            TransportError(.pinsExpired, "The list has expired.", request: secretRequest),
            TransferError(.downloadInProgress, "Another download is in progress.", request: secretRequest),
            TransferError(.uploadStalled, "The server takes no more bytes.", request: secretRequest),
            TransferError(.transferLost, "The transfer stopped.", request: secretRequest),
            TransportError(.sharedResponse, "The order is wrong.", request: secretRequest),
            AuthenticationError(.signedOut, "Sign in first.", request: secretRequest),
            TransportError.unsigned(.unknownOrigin, "No origin.", request: secretRequest),
            CacheStoreError(.entryDamaged, "A stored body was damaged."),
            LimitError.queueFull("limitConcurrency", waiting: 3, request: secretRequest),
            LimitError.waitTooLong(.seconds(3), limit: .seconds(1), request: secretRequest),
            LimitError.circuitOpen(apiOrigin, nextProbe: .seconds(3), request: secretRequest),
            RedirectError(
                .tooManyRedirects,
                limit: 1,
                redirects: [Redirect(status: 302, method: .get, url: secretURL, target: secretURL)],
                status: 302,
                request: secretRequest
            ),
            EnvelopeError(
                .envelopeFailure,
                serverCode: 1005,
                serverMessage: "password=hush-7",
                body: Data(secretBody.utf8),
                method: .post,
                url: secretURL
            ),
            try await statusError(401),
            try await failure(200), try await failure(500),
        ]
    }

    private static func response(_ status: HTTPResponse.Status) -> HTTPResponse {
        HTTPResponse(
            status: status,
            headers: [.setCookie: "sid=hush-8"],
            body: HTTPBody(secretBody),
            url: secretURL
        )
    }

    private static func statusError(_ status: HTTPResponse.Status) async throws -> StatusError {
        try await StatusError(response(status), method: .post, url: secretURL, bodyLimit: 100)
    }

    private static func failure(_ status: HTTPResponse.Status) async throws -> ResponseDecodingError {
        let client = Client(interceptors: [], transport: Recorder { _ in response(status) })
        return try #require(
            await #expect(throws: ResponseDecodingError.self) { try await client.get(apiURL, as: [String: Int].self) }
        )
    }

    // These belong to tests, or describe an error.
    private static let notOfACall: Set<String> = [
        "RecordingError",
        // The redacted form of an error in a journal.
        "Failure",
    ]

    @Test func everyPublicErrorOfACallIsInTheTable() async throws {
        let declaration = /public (?:final )?(?:struct|enum|class|actor) (\w+)(?:<[^>]*>)?:([^{]*)\{/
        let sources = Repository.root.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var names: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            for match in try String(contentsOf: file, encoding: .utf8).matches(of: declaration) {
                let conformances = match.2.split { !$0.isLetter }
                let isError = ["Error", "HTTPError", "LocalizedError"].contains { conformances.contains($0) }
                if isError || match.1.hasSuffix("Error") || match.1.hasSuffix("Failure") {
                    names.insert(String(match.1))
                }
            }
        }
        let table = Set(try await Self.errors().map { "\(type(of: $0))" })
        #expect(table.count == 10)
        #expect(names.subtracting(Self.notOfACall) == table)
    }

    @Test func noTextShowsASecret() async throws {
        for var error in try await Self.errors() {
            error.context.redirects = [
                Redirect(status: 307, method: .get, url: Self.secretURL, target: Self.secretURL)
            ]
            error.context.attempts = [RetryAttempt(number: 1, answer: .failure(try await Self.statusError(503)))]
            var (dumped, dumpedOptional) = ("", "")
            dump(error, to: &dumped)
            dump(Optional(error as any Error), to: &dumpedOptional)
            let texts = [
                error.description, error.debugDescription, "\(error)", String(reflecting: error), error.message,
                error.code.rawValue, error.localizedDescription, error.errorDescription ?? "", "\([error])", dumped,
                dumpedOptional, "\(String(describing: error.request))", error.context.attempts.description,
            ]
            for text in texts { #expect(!text.contains("hush"), "\(text)") }
        }
    }

    @Test func theSentenceForPeopleIsShortAndHasNoCodeAndNoURL() async throws {
        for error in try await Self.errors() {
            let sentence = error.localizedDescription
            #expect(sentence == error.errorDescription)
            #expect(sentence.hasSuffix(".") && sentence.count < 80, "\(sentence)")
            for part in ["Error", "Failure", "://", "example", "_", "(", "page=2"] {
                #expect(!sentence.contains(part), "\(sentence)")
            }
        }
    }

    @Test func theSentencesOfOneServerAreTheSameForAStatusErrorAndAnUncheckedStatus() async throws {
        let sentences: [(HTTPResponse.Status, String)] = [
            (401, "You need to sign in."), (403, "You are not allowed to do this."), (404, "This could not be found."),
            (429, "There were too many requests. Please try again later."),
            (503, "The server has a problem. Please try again later."),
            (418, "The server did not accept the request."),
        ]
        for (status, sentence) in sentences {
            #expect(try await Self.statusError(status).localizedDescription == sentence)
            #expect(try await Self.failure(status).localizedDescription == sentence)
        }
    }

    @Test func aCodeAloneSelectsAnErrorOfAnyType() throws {
        func isLate(_ error: any Error) -> Bool {
            do { throw error } catch let error as any HTTPError where error.code == .timedOut { return true } catch {
                return false
            }
        }
        #expect(isLate(TransportError(.timedOut, "Late.")) && !isLate(TransportError(.truncated, "Short.")))
    }

    @Test func theDescriptionBeginsWithTheTypeAndTheCode() async throws {
        for error in try await Self.errors() where !(error is PinningError) && !(error is StatusError) {
            #expect(error.description.hasPrefix("\(type(of: error)).\(error.code): "), "\(error)")
        }
        #expect(try await Self.statusError(404).description.hasPrefix("StatusError: 404 Not Found"))
    }

    @Test func descriptionNamesTheRequestTheAttemptsAndTheRedirects() async throws {
        let causes: [any HTTPError.Type] = [PinningError.self, CacheStoreError.self]
        for var error in try await Self.errors() where !causes.contains(where: { $0 == type(of: error) }) {
            let hops = (0..<20).map { number in
                Redirect(
                    status: 302,
                    method: .get,
                    url: apiURL.appending(path: "\(number)"),
                    target: apiURL.appending(path: "\(number + 1)")
                )
            }
            error.context.redirects = hops
            error.context.attempts = (1...3).map { number in
                RetryAttempt(
                    number: number,
                    answer: .success(HTTPResponse(status: 503)),
                    stop: number == 3 ? .attemptsUsedUp : nil
                )
            }
            let text = error.description
            #expect(error.attempts == 3)
            #expect(text.contains("After 3 attempts (503, 503, 503), not tried again: attemptsUsedUp."), "\(text)")
            #expect(
                text.contains("Redirected 20 times: 302 \(apiURL)/0 -> 302 \(apiURL)/1 -> … 17 more … -> "),
                "\(text)"
            )
            #expect(!text.contains(" Redirects:"), "\(text)")
            #expect(text.contains("/20.") && !text.contains("/10 "), "\(text)")
            let request = try #require(error.request)
            #expect(text.contains("\(request)"))
        }
    }

    @Test func aCallThatWasNotRepeatedHasOneAttempt() {
        #expect(TransportError(.cannotConnect, "No connection.").attempts == 1)
    }

    @Test func onlyAnErrorFromBeforeTheSendingSaysThatNothingWasSent() async throws {
        let unsent = try await Self.errors().filter(\.sentNothing).map(\.qualifiedCode)
        #expect(
            unsent == [
                "TransportError.cannotConnect", "TransferError.downloadInProgress", "TransportError.sharedResponse",
                "TransportError.unknownOrigin",
                "LimitError.queueFull", "LimitError.waitTooLong", "LimitError.circuitOpen",
            ]
        )
        #expect(UnsentError.timedOut(waitingFor: "a permit", Self.secretRequest).sentNothing)
        let sent: [HTTPErrorCode] = [.timedOut, .tlsFailed, .connectionLost, .truncated, .transportFailed]
        for code in sent { #expect(!TransportError(code, "It failed.").sentNothing) }
        let refused: [HTTPErrorCode] = [
            .uploadTargetChanged, .answeredByChain, .identifierInUse, .folderInUse, .unsupported,
        ]
        for code in refused { #expect(TransferError(code, "It was refused.").sentNothing) }
    }

    @Test func errorsOfAResponseHoldIt() async throws {
        for error in try await Self.errors() where error.response != nil {
            #expect(error is StatusError || error is EnvelopeError || error is ResponseDecodingError)
            #expect(error.response?.body.data == Data(Self.secretBody.utf8))
        }
        #expect(try await Self.errors().filter { $0.response != nil }.count == 4)
    }
}
