internal import Foundation
internal import Synchronization

/// Writes findings to standard error in debug builds, each once per process.
package enum FindingReport {
    /// No more than this many findings are written, so that a program that makes clients all the time doesn't grow.
    private static let limit = 100
    private static let written = Mutex<Set<String>>([])
    private static let isOff = ProcessInfo.processInfo.environment["INTERCEPTORS_FINDINGS"] == "off"

    package static func write(_ findings: () -> [String]) {
        if isOff || written.withLock({ $0.count >= limit }) { return }
        for text in findings() where isNew(text) {
            try? FileHandle.standardError.write(contentsOf: Data("[Interceptors] \(text)\n".utf8))
        }
    }

    private static func isNew(_ text: String) -> Bool {
        written.withLock { $0.count < limit && $0.insert(text).inserted }
    }
}
