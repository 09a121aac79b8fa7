import Foundation
import Harness
import Interceptors

// Measures cache hits, variants, many entries and a long body. An argument selects one part: hits, variants, many or long.
let part = CommandLine.arguments.dropFirst().first
let folder = FileManager.default.temporaryDirectory.appending(path: "cache-benchmarks-\(UUID().uuidString)")

if part == nil || part == "hits" { try await measureHits() }
if part == nil || part == "variants" { try await measureVariants() }
if part == nil || part == "many" { try await measureMany() }
if part == nil || part == "long" { try await measureLong() }
try? FileManager.default.removeItem(at: folder)
