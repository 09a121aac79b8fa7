public import Foundation
package import InterceptorsRecordings

extension MockServer {
    /// Starts a server that answers from the files in a folder, as the transport `files(in:)` of the module `InterceptorsRecordings` does.
    ///
    /// ```swift
    /// let server = try MockServer(serving: folder)             // GET/users/42.json answers GET /users/42
    /// let api = Client(baseURL: server.url)
    /// ```
    /// The article *Folders* of that module says which file answers which request. The files of every host's folder answer.
    /// The first request reads the names of the files. Routes and queued responses come before the folder. A request that no file
    /// answers gets a 404, and one whose file can't be read a 500, each with the reason as text.
    ///
    /// A client that follows a redirect stays on loopback: a `Location` and a `Content-Location` lose the origin of a host that has a
    /// folder.
    ///
    /// - Parameters:
    ///   - folder: the folder.
    ///   - port: the port; by default 0: the system chooses a free one.
    ///   - delay: the wait before each answer from the folder, none by default.
    ///   - time: its clock measures the delay and the pauses in responses.
    /// - Throws: an error that says what the system refused, such as a port that is in use.
    public convenience init(
        serving folder: URL,
        port: Int = 0,
        delay: Duration = .zero,
        time: TimeSource = .system
    ) throws {
        let answers = FolderAnswers(folder, now: time.now)
        try self.init(port: port, time: time) { request in
            await FolderResponse(to: request, from: answers).response.delayed(by: delay)
        }
    }

    /// Starts a server whose closure answers the requests that no route and no queued response answers.
    ///
    /// - Parameters:
    ///   - port: the port; 0 for one that the system chooses.
    ///   - keepsRequests: whether ``requests`` holds the received requests, with their bodies.
    ///   - time: its clock measures the pauses in responses.
    ///   - answer: returns the response.
    package convenience init(
        port: Int,
        keepsRequests: Bool = true,
        time: TimeSource = .system,
        answer: @escaping @Sendable (Request) async -> StubAnswer
    ) throws {
        guard let port = UInt16(exactly: port) else { throw MockServerError("listen on port \(port)", code: EINVAL) }
        let core = try ServerCore(clock: time.clock, port: port) { PlainStream($0) }
        core.state.change { state in
            state.fallback = answer
            state.keepsRequests = keepsRequests
        }
        try self.init(scheme: "http", core)
    }
}

/// A folder's response to a request that a server received.
package struct FolderResponse: Sendable {
    /// The response.
    package let response: StubAnswer
    /// The status of the response; `nil` if the connection ends without one.
    package let status: Int?
    /// The file that the response comes from; `nil` if there is none.
    package let file: String?
    /// Why no file answers; `nil` if one does.
    package let problem: String?
}

extension FolderResponse {
    /// Looks up the answer.
    package init(to request: MockServer.Request, from answers: FolderAnswers) async {
        guard let sent = HTTPRequest(request) else {
            let reason = "The target \(Redaction.standard.redactingURL(request.target)) isn't a path."
            self.init(response: .text(reason + "\n", status: 400), status: 400, file: nil, problem: reason)
            return
        }
        do {
            let found = try await answers.answer(to: sent, target: request.pathAndQuery)
            var answer = found.answer.withFramingOfServer(answering: request.method)
            // Opened here, where a problem is reported.
            if case .file(let file) = answer.content { answer.content = .body(try HTTPBody(file: file)) }
            self.init(response: answer, status: answer.status.code, file: found.file, problem: nil)
        } catch {
            let status: HTTPResponse.Status = (error as? TransportError)?.code == .noStub ? 404 : 500
            let reason = (error as? TransportError)?.message ?? ErrorText.line(error)
            let answer = StubAnswer.text(reason + "\n", status: status)
            self.init(response: answer, status: status.code, file: nil, problem: reason)
        }
    }
}

extension MockServer.Request {
    /// The target in its origin form, also of a request whose target is a whole URL (RFC 9112 §3.2.2).
    var pathAndQuery: String { query.map { "\(path)?\($0)" } ?? path }
}

extension StubAnswer {
    /// This answer without the fields that frame its content, because a recording has those of another connection.
    package func withFramingOfServer(answering method: HTTPRequest.Method) -> Self {
        var answer = self
        answer.headers.removeFraming(keepingLength: method == .head)
        return answer
    }
}
