extension InterceptorChain: CustomStringConvertible {
    /// The chain as a table: its elements, outermost first, with their roles, and the findings below.
    ///
    /// ```text
    /// 1  cookies          keepsCookies
    /// 2  followRedirects  followsRedirects, readsStatus
    ///    CurlTransport
    ///
    /// broken: cookies (1) is outside followRedirects (2). …
    /// ```
    /// ``names`` has the names alone.
    public var description: String { ChainTable(ChainReport(self)).text }
}

/// The printed form of a chain.
struct ChainTable {
    let report: ChainReport

    init(_ report: ChainReport) { self.report = report }

    var text: String {
        let findings = report.findings.map(\.description)
        let acknowledged = report.acknowledged.map {
            "acknowledged: \($0.finding.message) \($0.reason) (\($0.finding.rule))"
        }
        let parts = [rows, findings + acknowledged].filter { !$0.isEmpty }
        return parts.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    private var rows: [String] {
        let elements = report.chain.elements
        let digits = "\(elements.count)".count
        let width = elements.map { Self.name($0).count }.max() ?? 0
        let rows = elements.map { element in
            let number = "\(element.number)"
            let name = Self.name(element)
            let roles = element.placement.map { $0.declared.joined(separator: ", ") } ?? "not judged"
            let row =
                String(repeating: " ", count: digits - number.count) + "\(number)  \(name)"
                + String(repeating: " ", count: width - name.count) + "  \(roles)"
            return roles.isEmpty ? String(row.reversed().drop { $0 == " " }.reversed()) : row
        }
        return rows + [String(repeating: " ", count: digits + 2) + report.chain.transport]
    }

    /// An element's name, indented and marked if only some requests pass it.
    private static func name(_ element: LintedChain.Element) -> String {
        element.parts.isEmpty
            ? element.title
            : "when " + element.parts.map { "#\($0.number)" }.joined(separator: " ") + ": " + element.title
    }
}
