import Foundation

/// Prints a line at once: a buffered one would be lost with the process.
func report(_ text: String) {
    let line = Data((text + "\n").utf8)
    _ = line.withUnsafeBytes { Foundation.write(1, $0.baseAddress, $0.count) }
}
