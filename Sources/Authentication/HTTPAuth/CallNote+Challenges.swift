internal import InterceptorsCore

// The names of decisions are part of what a journal's readers rely on.
extension CallNote {
    static func challengeAnswered(_ status: HTTPResponse.Status) -> Self {
        Self("challengeAnswered", "sends the request again with a password, because the status was \(status.code)")
    }

    static func challengeUnanswered(_ reason: String) -> Self { Self("challengeUnanswered", reason) }
}
