public import Foundation
public import InterceptorsMiddlewares

/// The promises of `CacheStore`, each as a check.
///
/// For authors of stores. With Swift Testing, each rule becomes a separate test:
///
/// ```swift
/// @Test(arguments: CacheStoreConformance.rules)
/// func keepsThePromisesOfAStore(rule: CacheStoreConformance.Rule) async throws {
///     try await rule.check { MyStore() }
/// }
/// ```
/// A rule stores at most 2 MB, so give the store more room. A store that drops entries keeps its promises, but fails these rules.
///
/// A failed check says what the store did, what was expected, why it matters, and the usual repair.
///
/// ## Stores on disk
/// ``crashRules`` check a store whose entries outlive the process: killed processes, damaged files, and several stores over one
/// folder. The store opens a folder:
///
/// ```swift
/// @Test(arguments: CacheStoreConformance.crashRules)
/// func survivesACrash(rule: CacheStoreConformance.CrashRule) async throws {
///     try await rule.check { folder in MyDiskStore(at: folder) }
/// }
/// ```
/// The kit can't kill the test's process. Instead it copies the folder after each call of a script, and makes the states between two
/// copies: each with some of the changed files only, or with one of them cut. A store opened over such a copy may serve an old
/// entry, a new entry or nothing, and must go on working. A test with a real process that is killed is still worth its time.
///
/// The rules don't know a full disk. The limits that a test could set, such as `RLIMIT_FSIZE`, belong to the process, so they would
/// fail the writes of other tests too. Set such a limit in a process that your test starts, or give the store a small file system.
///
/// ## Checks that stand still
/// Rules about concurrent tasks run in several orders, one task at a time, and then on the usual threads. A check that makes no
/// progress for some seconds fails, and lists the store's functions that haven't returned.
///
/// On Apple's platforms, a store that blocks each thread of Swift's pool also blocks the test. Such a check hangs.
public enum CacheStoreConformance {
    /// Creates an empty store. A check may create several.
    public typealias Factory = @Sendable () async throws -> any CacheStore

    /// Opens a store whose files are in the given folder, which exists. A check opens several stores over one folder, and over
    /// copies of the folder.
    public typealias FolderFactory = @Sendable (_ folder: URL) async throws -> any CacheStore

    /// One promise of a store.
    public struct Rule: Sendable, Hashable, CustomStringConvertible {
        /// The promise, in the form of a test's name.
        public let name: String
        let law: Law
        let body: @Sendable (Bench) async throws -> Void
        /// How many orders of tasks a check tries.
        let seeds: UInt64

        init(_ law: Law, seeds: UInt64 = 0, _ body: @escaping @Sendable (Bench) async throws -> Void) {
            name = law.name
            self.law = law
            self.seeds = seeds
            self.body = body
        }

        /// Checks that a store keeps the promise.
        ///
        /// - Parameters:
        ///   - patience: how long no function of the store may return before the check fails; 10 s by default.
        ///   - make: creates an empty store.
        /// - Throws: an error that says what the store did, what was expected, why, and the usual repair. Rethrows errors of
        ///   `make`.
        public func check(patience: Duration = .seconds(10), _ make: @escaping Factory) async throws {
            try await check(RulePatience(otherThreads: patience), make)
        }

        /// Whether both rules have the same name.
        public static func == (left: Self, right: Self) -> Bool { left.name == right.name }

        /// Hashes the name.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        /// The name.
        public var description: String { name }
    }

    /// One promise of a store whose entries are in files, and outlive the process.
    public struct CrashRule: Sendable, Hashable, CustomStringConvertible {
        /// The promise, in the form of a test's name.
        public let name: String
        let law: Law
        let body: @Sendable (CrashBench) async throws -> Void

        init(_ law: Law, _ body: @escaping @Sendable (CrashBench) async throws -> Void) {
            name = law.name
            self.law = law
            self.body = body
        }

        /// Checks that a store keeps the promise.
        ///
        /// - Parameters:
        ///   - patience: how long no function of the store may return before the check fails; 10 s by default.
        ///   - open: opens a store over a folder.
        /// - Throws: an error that says what the store did, what was expected, why, and the usual repair. Rethrows errors of
        ///   `open`.
        public func check(patience: Duration = .seconds(10), _ open: @escaping FolderFactory) async throws {
            let scratch = try ScratchFolder()
            defer { scratch.remove() }
            let bench = CrashBench(scratch: scratch, open: open)
            try await law.watch(bench.log, patience: patience) { try await body(bench) }
        }

        /// Whether both rules have the same name.
        public static func == (left: Self, right: Self) -> Bool { left.name == right.name }

        /// Hashes the name.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        /// The name.
        public var description: String { name }
    }

    /// Every rule for any store.
    public static let rules: [Rule] = storingRules + readingRules + replacingRules + removingRules + concurrencyRules

    /// The rules for a store whose entries are in files, in addition to ``rules``.
    public static let crashRules: [CrashRule] = reopeningRules + killRules + damageRules + openFileRules + sharingRules
}
