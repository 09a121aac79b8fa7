public import Foundation
internal import Synchronization

/// A file of recorded exchanges, which answers instead of a server.
///
/// ```swift
/// let tape = Recording(at: file, mode: .once, matching: [.method, .path, .query(except: "page")], expiring: .seconds(30 * 86_400))
/// let api = Client(baseURL: url, interceptors: chain, transport: .recorded(tape, over: .platform()))
/// let user: User = try await api.get("/users/42")
/// try tape.finish()
/// ```
/// The first run records, and later runs play. See <doc:RecordingResponses> for the modes, for tests that share a file, and for CI.
///
/// ## Order
/// Requests are equal if `matching` finds no difference. The nth of several equal requests gets the nth response; each `Recording`
/// counts for itself. Requests that overlap are counted in the order of their arrival, and play in parallel. A call that is
/// cancelled before its response counts as not made.
///
/// ## Files
/// The file is an HTTP Archive (HAR 1.2), which archives of browsers are, too. It is written by ``finish(allowingUnused:)``, whole
/// or not at all. Until then each finished exchange is a line in a side file, named as the file with `.unfinished` behind it. The
/// next `finish`, also of another process, moves its lines into the file, and every `Recording` plays them already. So a process
/// that is killed loses at most the exchanges that hadn't ended. Playing never writes.
///
/// Any number of recordings and processes may play a file. One process records it at a time, with any number of recordings, on a file system
/// with locks (`flock`); a second one gets an error that says so. A missing folder is created.
///
/// An archive of another program plays. If a recording writes to it, in mode ``Mode/new``, ``Mode/all`` or because an entry has
/// expired, the archive is rewritten: redacted exchanges stay, and everything else goes, such as pages, comments, WebSockets and
/// measured times. Record into a copy if you need the original.
///
/// ## Secrets
/// Only redacted text is written, to both files. Both sides of a comparison are redacted too, so that a recording plays without
/// the secrets it was made with.
public final class Recording: Sendable {
    /// The environment variable that names a ``Mode`` for all recordings of a process, in place of the mode that each was given: `none` in CI.
    public static let environmentVariable = "INTERCEPTORS_RECORDING"

    /// The file, as given.
    public let file: URL
    /// The mode: that of the environment, or else the one given.
    public let mode: Mode

    let options: Options
    /// The session, or the error that the file's first use met.
    private let opened = Mutex<Result<TapeSession, any Error>?>(nil)

    /// The settings, which don't change.
    struct Options: Sendable {
        let matching: RequestMatching
        let redaction: ExchangeRedaction
        let expiry: Duration?
        let bodyLimit: Int
        let repeatsLast: Bool
        let repeatsPauses: Bool
        let time: TimeSource
    }

    /// Creates a recording. Touches no file: the first request reads it.
    ///
    /// - Parameters:
    ///   - file: an HTTP Archive, or the place for one. A link is followed.
    ///   - mode: what to do with requests.
    ///   - matching: what makes two requests equal.
    ///   - expiry: the age from which an entry is recorded again, by the modes ``Mode/new``, ``Mode/once`` and ``Mode/all``. By default entries
    ///     never expire.
    ///   - redaction: finds what is replaced before anything is written or compared: by default credentials alone, because everything else
    ///     plays. Add and remove names as you need. A secret becomes `REDACTED`, which URLs and markup can contain, even if the
    ///     redaction has another placeholder; in JSON a secret number becomes 0. Fields that an element of the chain declares (`.addsCredentials(in:)`) are replaced
    ///     too.
    ///   - repeatingLast: whether requests beyond the recorded ones get the last response again, as archives of browsers may need.
    ///     By default they fail with `HTTPErrorCode.notRecorded`.
    ///   - repeatingPauses: whether played responses and their chunks come after the recorded pauses. By default they come at once.
    ///   - bodyLimit: the maximum number of bytes of a request's and of a response's content; by default 16 MiB. A longer
    ///     content passes and is left out of its entry: ``finish(allowingUnused:)`` says so, and the entry plays as
    ///     ``InterceptorsTransport/HTTPErrorCode/notRecorded``.
    ///   - environment: the environment in which ``environmentVariable`` may set the mode. By default the process's.
    ///   - time: its clock measures and replays pauses, and its date decides what has expired.
    ///   - redacting: replaces secrets that `redaction` can't know, in URLs, values of fields and text contents. It must not change
    ///     its own results. By default nothing more.
    public init(
        at file: URL,
        mode: Mode = .once,
        matching: RequestMatching = .standard,
        expiring expiry: Duration? = nil,
        redaction: Redaction = .credentials,
        repeatingLast: Bool = false,
        repeatingPauses: Bool = false,
        bodyLimit: Int = 16 << 20,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        time: TimeSource = .system,
        redacting: (@Sendable (String) -> String)? = nil
    ) {
        self.file = file
        self.mode = environment[Self.environmentVariable].flatMap { $0.isEmpty ? nil : Mode(rawValue: $0) } ?? mode
        options = Options(
            matching: matching,
            redaction: ExchangeRedaction(redaction, hook: redacting),
            expiry: expiry,
            bodyLimit: bodyLimit,
            repeatsLast: repeatingLast,
            repeatsPauses: repeatingPauses,
            time: time
        )
    }

    /// The session, which the first call opens.
    ///
    /// - Throws: if the mode is unknown, or the file can't be read or parsed. Each call throws the same error.
    @concurrent
    func session() async throws -> TapeSession { try openedSession() }

    // The first requests wait for one another: each needs the file.
    private func openedSession() throws -> TapeSession {
        try opened.withLock { opened in
            let session = opened ?? Result { try TapeSession(file: file, mode: mode, options: options) }
            opened = session
            return try session.get()
        }
    }
}

extension Recording {
    /// Writes what was recorded into the file, and checks that the recording still fits. Call it at the end of a test, or of a
    /// suite whose tests share the recording.
    ///
    /// The file is written if this recording has recorded an exchange. In modes ``Mode/new`` and ``Mode/all`` the lines that killed
    /// processes have left in the side file are reason enough. The recording stays usable, and `finish` can
    /// be called again.
    ///
    /// - Parameter allowingUnused: whether entries that no request has used are fine, because only a part of the tests has run
    ///   or other recordings use them.
    /// - Returns: the names whose values this recording has replaced in what it recorded, such as `Authorization` and `access_token`, and
    ///   how often. A name that isn't a credential in your API goes by `redaction: .credentials.removing(names: ["token"])`.
    /// - Throws: ``RecordingError``, after writing, that lists
    ///   - the entries that no request has used, except in mode ``Mode/all``;
    ///   - the exchanges that couldn't be recorded, or haven't ended. A failure, or a content beyond the limit, doesn't replace a
    ///     recorded response.
    ///
    ///   `TransportError` with `HTTPErrorCode.unwritableFile` or `HTTPErrorCode.unreadableFile` if the file can't be written
    ///   or read. What was recorded stays in the side file.
    @discardableResult
    public func finish(allowingUnused: Bool = false) throws -> [String: Int] {
        // This mode touches no file.
        guard mode != .live else { return [:] }
        return try openedSession().finish(allowingUnused: allowingUnused)
    }

    /// The way in which a recording answers requests.
    ///
    /// | mode | a request that is recorded | a request that isn't | writes |
    /// | --- | --- | --- | --- |
    /// | ``none`` | plays | fails | never |
    /// | ``new`` | plays | is sent and recorded | yes |
    /// | ``once``, if the file exists | plays | fails | only expired entries |
    /// | ``once``, if it doesn't | plays | is sent and recorded | yes |
    /// | ``all`` | is sent and recorded again | is sent and recorded | yes |
    /// | ``live`` | is sent | is sent | never |
    public struct Mode: OpenSet {
        /// The name of the mode, as the environment variable `INTERCEPTORS_RECORDING` gives it.
        public let rawValue: String
        /// Creates a mode from its name. A name that isn't listed here fails each request, with an error that names it.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Plays what is recorded. Any other request fails with `HTTPErrorCode.notRecorded`, and nothing is ever written or
        /// sent.
        public static let none = Self(rawValue: "none")
        /// Plays what is recorded, and records the rest.
        public static let new = Self(rawValue: "new")
        /// Plays if the file exists, and otherwise records everything.
        ///
        /// Each process decides once for each file, when the first request arrives: without a file it goes on recording what isn't
        /// there, so 100 parallel tests with one file all record in the first run.
        public static let once = Self(rawValue: "once")
        /// Records everything again. Entries for requests that aren't made this time stay in the file.
        public static let all = Self(rawValue: "all")
        /// Sends everything, and neither reads nor writes the file.
        public static let live = Self(rawValue: "live")

        static let known: [Self] = [.none, .new, .once, .all, .live]
    }
}

/// Thrown by ``Recording/finish(allowingUnused:)``: everything that no longer fits, in one error. URLs are redacted.
public struct RecordingError: Error, Sendable, CustomStringConvertible {
    /// The recording's file.
    public let file: URL
    /// The entries that no request has used, in the order of the file: method and URL.
    public let unused: [String]
    /// The exchanges that aren't recorded, or without their content: method, URL and reason. The content is too long, a failure was to
    /// replace a response, the side file can't be written, or the exchange hasn't ended.
    public let notRecorded: [String]

    /// The file and what the error lists.
    public var description: String {
        let remedy = " Delete these entries, or pass allowingUnused: true."
        let lists = [
            unused.isEmpty ? nil : "No request has used \(unused.joined(separator: ", ")).\(remedy)",
            notRecorded.isEmpty ? nil : "Not recorded: \(notRecorded.joined(separator: "; "))",
        ]
        return "RecordingError: \(file.lastPathComponent): \(lists.compactMap(\.self).joined(separator: " "))"
    }
}

extension HTTPErrorCode {
    /// `TransportError`: a recording has no response to the request, or no more of its content.
    public static let notRecorded = Self(rawValue: "notRecorded")
}
