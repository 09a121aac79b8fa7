extension Recording {
    /// The way in which a recording answers requests.
    ///
    /// | mode | a request that is recorded | a request that isn't | writes |
    /// | --- | --- | --- | --- |
    /// | ``none`` | plays | fails | never |
    /// | ``new`` | plays | is sent and recorded | yes |
    /// | ``once``, if the file exists | plays | fails | only expired entries |
    /// | ``once``, if it doesn't | is sent and recorded | is sent and recorded | yes |
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
        /// Each process decides once for each file, when the first request arrives: 100 parallel tests with one file all record
        /// in the first run. Two processes that start without the file both record; a process that starts later plays. If a killed
        /// process has left a side file without the file, the next process records. Its responses replace all lines for equal
        /// requests; lines for other requests become entries.
        public static let once = Self(rawValue: "once")
        /// Records everything again. Entries for requests that aren't made this time stay in the file.
        public static let all = Self(rawValue: "all")
        /// Sends everything, and neither reads nor writes the file.
        public static let live = Self(rawValue: "live")

        static let known: [Self] = [.none, .new, .once, .all, .live]
    }

    /// The age from which an entry is recorded again.
    ///
    /// ```swift
    /// let tape = Recording(at: file, expiring: .days(30))
    /// ```
    /// An expired entry is recorded again by the modes that may record: ``Mode/new``, ``Mode/once`` and ``Mode/all``. In
    /// ``Mode/none`` it plays, and ``Recording/expired`` lists it.
    public struct Expiry: Sendable, Hashable {
        let age: Duration?

        /// Entries never expire.
        public static let never = Self(age: nil)

        /// Entries expire this long after they were recorded.
        public static func after(_ age: Duration) -> Self { Self(age: age) }

        /// Entries expire this many days, of 24 hours, after they were recorded.
        public static func days(_ count: Int) -> Self {
            let (seconds, isTooLarge) = Int64(count).multipliedReportingOverflow(by: 86_400)
            return Self(age: .seconds(isTooLarge ? (count < 0 ? -.max : .max) : seconds))
        }
    }

    /// The pauses of a played response.
    public struct Pace: Sendable, Hashable {
        let isRecorded: Bool

        /// Responses and their chunks come at once.
        public static let immediate = Self(isRecorded: false)
        /// Responses and their chunks come after the recorded pauses, on the clock of the recording's time source.
        public static let recorded = Self(isRecorded: true)
    }
}
