internal import Foundation
internal import Synchronization

extension InterceptorChain {
    /// The faults in this chain's order and settings that are broken or doubtful, worst first.
    ///
    /// ```swift
    /// #expect(api.chain.findings.isEmpty)
    /// ```
    /// Groups, `.when` parts and nested chains are judged too. Elements that don't declare their place (``PlacedInterceptor``),
    /// such as closures, are not judged. ``Interceptor/acknowledged(_:_:)`` silences a rule for one element.
    ///
    /// Only debug builds contain the rules: in a release build the array is empty. In debug builds, a ``Client`` also writes
    /// these findings to standard error when it is made, each once per process. Set the environment variable
    /// `INTERCEPTORS_FINDINGS` to `off` to prevent this.
    public var findings: [ChainFinding] { ChainReport(self).findings.filter { $0.severity != .note } }

    /// Facts about this chain that are often intended, such as that nothing follows redirects. Empty in a release build.
    public var notes: [ChainFinding] { ChainReport(self).findings.filter { $0.severity == .note } }
}

extension InterceptorChain: CustomStringConvertible {
    /// The chain as a table: its elements, outermost first, with their roles, and in debug builds the findings below.
    ///
    /// ```text
    /// 1  cookies          keepsCookies
    /// 2  followRedirects  followsRedirects, readsStatus
    ///    CurlTransport
    ///
    /// broken: cookies (1) is outside followRedirects (2). …
    /// ```
    /// ``names`` has the names alone.
    public var description: String { ChainReport(self).description }
}

/// The findings of all rules, and those that were acknowledged.
private struct ChainReport {
    private let chain: LintedChain
    private(set) var findings: [ChainFinding] = []
    private var acknowledged: [String] = []

    init(_ chain: InterceptorChain) {
        self.chain = LintedChain(chain)
        #if DEBUG
        // The positions of the elements of each finding.
        var reported: Set<[Int]> = []
        for definition in ChainRuleDefinition.all {
            for match in definition.matches(self.chain) {
                let isNew = reported.insert(match.elements.map(\.number)).inserted
                // Another rule reports the pair already, with the harm.
                if definition.rule == .placement, !isNew { continue }
                let finding = definition.finding(match)
                if let reason = match.acknowledgement(of: definition.rule) {
                    acknowledged.append("acknowledged: \(finding.message) \(reason) (\(finding.rule))")
                } else {
                    findings.append(finding)
                }
            }
        }
        // Stable by rule within a severity.
        findings = ChainFinding.Severity.allCases.flatMap { severity in findings.filter { $0.severity == severity } }
        #endif
    }

    var description: String {
        let parts = [rows, findings.map(\.description) + acknowledged].filter { !$0.isEmpty }
        return parts.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    private var rows: [String] {
        func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
        let digits = "\(chain.elements.count)".count
        let width = chain.elements.map(\.title.count).max() ?? 0
        let rows = chain.elements.map { element in
            let roles = element.isJudged ? element.declared.joined(separator: ", ") : "not judged"
            return spaces(digits - "\(element.number)".count) + "\(element.number)  \(element.title)"
                + (roles.isEmpty ? "" : spaces(width - element.title.count + 2) + roles)
        }
        return rows + [spaces(digits + 2) + chain.transport]
    }
}

/// Writes findings to standard error in debug builds, each once per process.
package enum FindingReport {
    /// No more than this many findings are written, so that a program that makes clients all the time doesn't grow.
    private static let limit = 100
    private static let written = Mutex<Set<String>>([])
    private static let isOff = ProcessInfo.processInfo.environment["INTERCEPTORS_FINDINGS"] == "off"

    package static func write(_ findings: () -> [String]) {
        if isOff || written.withLock({ $0.count >= limit }) { return }
        for text in findings() where written.withLock({ $0.count < limit && $0.insert(text).inserted }) {
            try? FileHandle.standardError.write(contentsOf: Data("[Interceptors] \(text)\n".utf8))
        }
    }
}
