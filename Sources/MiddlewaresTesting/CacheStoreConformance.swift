internal import Foundation
public import Middlewares

/// The promises of `CacheStore`, each as a check.
///
/// For authors of stores. With Swift Testing, each rule becomes a separate test:
///
/// ```swift
/// @Test(.timeLimit(.minutes(1)), arguments: CacheStoreConformance.rules)
/// func keepsThePromisesOfAStore(rule: CacheStoreConformance.Rule) async throws {
///     try await rule.check { MyStore() }
/// }
/// ```
/// Each check creates an empty store. A rule stores at most 2 MB, so give the store more room. A store that drops entries keeps
/// its promises, but fails these rules.
///
/// The rules can't show that entries survive the process, or that other processes can't interfere. Test both separately.
public enum CacheStoreConformance {
    /// Creates an empty store.
    public typealias Factory = @Sendable () async throws -> any CacheStore

    /// One promise of a store.
    public struct Rule: Sendable, Hashable, CustomStringConvertible {
        /// The promise, in the form of a test's name.
        public let name: String
        let body: @Sendable (Bench) async throws -> Void

        /// Checks that a store keeps the promise.
        ///
        /// - Throws: an error with the expected and the actual value if the store breaks the promise. Rethrows the store's errors.
        public func check(_ make: @escaping Factory) async throws { try await body(Bench(store: try await make())) }

        /// Whether both rules have the same name.
        public static func == (left: Self, right: Self) -> Bool { left.name == right.name }

        /// Hashes the name.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        /// The name.
        public var description: String { name }
    }

    /// Thrown when a store breaks a promise.
    struct Violation: Error, Sendable, CustomStringConvertible {
        /// The expected and the actual value.
        let description: String
    }

    /// Every rule.
    public static let rules: [Rule] = storingRules + replacingRules + removingRules
}

extension CacheStoreConformance {
    /// The store of one check.
    struct Bench: Sendable {
        let store: any CacheStore

        func key(_ path: String, partition: String = "") throws -> CacheKey {
            let key = URL(string: "https://a.example/\(path)").flatMap { CacheKey(url: $0, partition: partition) }
            guard let key else { throw Violation(description: "The check's path \(path) is wrong.") }
            return key
        }

        /// A response of the variant that the request field `Accept` selects.
        func response(_ variant: String = "", fields: HTTPFields = [.cacheControl: "max-age=60"]) -> CachedResponse {
            CachedResponse(
                status: 203,
                headerFields: fields,
                selectingFields: [.accept: variant],
                initialAge: 7,
                responseTime: 1_767_225_600,
                needsValidation: true
            )
        }

        /// Stores a body in chunks through a writer, whatever the generation is.
        func put(
            _ body: Data,
            _ key: CacheKey,
            _ variant: String = "",
            replacing entries: [CacheEntry.ID] = []
        ) async throws {
            let writer = try await store.write(
                response(variant),
                for: key,
                replacing: entries,
                length: Int64(body.count)
            )
            var rest = body[...]
            while !rest.isEmpty {
                try await writer.append(Data(rest.prefix(50_000)))
                rest = rest.dropFirst(50_000)
            }
            let isStored = try await writer.commit { _ in true }
            try expect(isStored, is: true, "the result of commit(if:)")
        }

        func entries(_ key: CacheKey) async throws -> [CacheEntry] { try await store.snapshot(of: key).entries }

        func generation(_ key: CacheKey) async throws -> CacheGeneration {
            try await store.snapshot(of: key).generation
        }

        /// The bodies of all entries of a key, as text, sorted.
        func bodies(_ key: CacheKey) async throws -> [String] {
            var bodies: [String] = []
            for entry in try await entries(key) {
                bodies.append(String(decoding: try await bytes(entry), as: UTF8.self))
            }
            return bodies.sorted()
        }

        func bytes(_ entry: CacheEntry, _ range: Range<Int64>? = nil) async throws -> Data {
            try await entry.body(range).collect(upTo: 4 << 20)
        }

        func only(_ key: CacheKey) async throws -> CacheEntry {
            let entries = try await entries(key)
            try expect(entries.count, is: 1, "the number of entries of \(key)")
            return entries[0]
        }
    }

    static func expect<Value: Equatable>(_ value: Value, is expected: Value, _ what: String) throws {
        guard value != expected else { return }
        throw Violation(description: "\(what): expected \(expected), got \(value)")
    }

    static func expect<Value: Equatable>(_ value: Value, isNot other: Value, _ what: String) throws {
        guard value == other else { return }
        throw Violation(description: "\(what): expected anything but \(other)")
    }
}

extension CacheStoreConformance.Bench {
    private func expect<Value: Equatable>(_ value: Value, is expected: Value, _ what: String) throws {
        try CacheStoreConformance.expect(value, is: expected, what)
    }
}
