extension Recording {
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
