internal import Foundation
internal import InterceptorsArchives

/// The form of stubs in launch arguments: JSON in ASCII, because a system may change the Unicode form of an argument.
enum LaunchArguments {
    static let flag = "--interceptors-stubs="
    /// No other argument begins so: a misspelled flag must not reach the network.
    private static let prefix = "--interceptors-stub"
    /// In bytes.
    #if os(Linux) || os(Android)
    // Linux allows 128 KiB for one argument.
    static let limit = 96 << 10
    #else
    // macOS allows 1 MiB for all arguments and the environment.
    static let limit = 512 << 10
    #endif

    /// JSON text with every other character escaped. Only strings contain any.
    static func ascii(_ json: Data) -> String {
        String(decoding: json, as: UTF8.self).unicodeScalars.reduce(into: "") { text, scalar in
            guard scalar.value >= 0x7F else { return text.unicodeScalars.append(scalar) }
            for unit in String(scalar).utf16 { text += String(format: "\\u%04x", Int(unit)) }
        }
    }

    /// The stubs in the arguments; `nil` if none of the arguments is about stubs.
    static func stubs(in arguments: [String]) throws -> LaunchStubs? {
        var all: LaunchStubs?
        for argument in arguments where argument.hasPrefix(prefix) {
            guard argument.hasPrefix(flag) else {
                let name = printable(String(argument.prefix { $0 != "=" }))
                let message = "The argument \(name) is unknown. The argument about stubs is \(flag)…."
                throw TransportError(.invalidLaunchStubs, message)
            }
            let more = try LaunchStubs(json: Data(argument.dropFirst(flag.count).utf8))
            all = LaunchStubs(names: (all?.names ?? []) + more.names, stubs: (all?.stubs ?? []) + more.stubs)
        }
        return all
    }

    // Counted in scalars, because a single character can be of any length.
    static func printable(_ text: String) -> String { PrintableText.line(String(text.unicodeScalars.prefix(300))) }
}
