internal import Foundation
internal import Interceptors
public import InterceptorsTesting
internal import Synchronization

// The parts that use declarations of the package, and aren't in the example.
extension UploadServer {
    /// Answers the requests of a server that no route and no queued response answers.
    public func serve(on server: MockServer) {
        server.answerOthers { [self] request in
            let head = UploadStore.Head(method: request.method, path: request.path, fields: request.headers)
            let admission = store.withLock { $0.admit(head) }
            let answer: @Sendable (MockServer.Request, Bool) -> StubAnswer = { [self] request, isCut in
                let answer = store.withLock { $0.answer(head, admission, request.body, isCut: isCut) }
                // A reset could overtake a 104. After a cut, the connection ends in order, as after a last response.
                guard let answer else { return isCut ? StubAnswer(steps: []) : .closeBeforeHead }
                return .status(answer.status, headers: answer.fields, body: answer.body)
            }
            return (admission.interims, admission.cut, answer)
        }
    }
}

extension HTTPContext {
    func noteTaken(_ count: Int64) { takenBytes?(count) }
}
