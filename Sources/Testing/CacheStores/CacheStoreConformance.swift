public import Foundation

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
/// A failed check says what the store did, and the usual repair.
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
    public typealias Rule = ConformanceRule<Factory>

    /// One promise of a store whose entries are in files, and outlive the process.
    public typealias CrashRule = ConformanceRule<FolderFactory>

    /// Every rule for any store.
    public static let rules: [Rule] = laws.map { law in
        Rule(law.text, patience: RulePatience(otherThreads: .seconds(10))) { try await law.check($1, $2) }
    }

    /// The rules for a store whose entries are in files, in addition to ``rules``.
    public static let crashRules: [CrashRule] = crashLaws.map { law in
        CrashRule(law.text, patience: RulePatience(otherThreads: .seconds(10))) { try await law.check($1, $2) }
    }

    typealias Law = ConformanceLaw<Bench, Never>
    typealias CrashLaw = ConformanceLaw<CrashBench, Never>

    private static let laws: [Law] = entryLaws + concurrencyLaws
    private static let crashLaws: [CrashLaw] = fileLaws + descriptorLaws
}
