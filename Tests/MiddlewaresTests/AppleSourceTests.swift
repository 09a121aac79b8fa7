// The sources of the package are not on a device.
#if os(Linux) || os(macOS)
import Foundation
import InterceptorsTestSupport
import Testing

/// Rules about the parts of the package that only Apple's compiler sees, checked in their text.
@Suite(.againstHanging) struct AppleSourceTests {
    @Test(arguments: [
        ("if fstatvfs(file, &system) == 0 { }", true),
        ("#if canImport(Darwin)\nfstatvfs()\n#else\nother()\n#endif", true),
        ("#if canImport(Darwin)\nother()\n#else\nfstatvfs()\n#endif", false),
        ("#if canImport(FoundationNetworking)\nother()\n#else\nfstatvfs()\n#endif", true),
        ("#if canImport(FoundationNetworking)\nfstatvfs()\n#else\nother()\n#endif", false),
        ("#if os(Linux) && DEBUG\n#if true\n#endif\nfstatvfs()\n#endif\nother()", false),
        ("#if os(Linux) || os(macOS)\nfstatvfs()\n#endif", true),
        ("#if os(Linux)\nother()\n#elseif canImport(Darwin)\nfstatvfs()\n#endif", true),
        ("#if os(Linux)\nother()\n#elseif canImport(Darwin)\nother()\n#else\nfstatvfs()\n#endif", false),
        ("#ifndef __APPLE__\nfstatvfs()\n#endif", false), ("#ifdef __APPLE__\nfstatvfs()\n#endif", true),
        ("#include <fstatvfs.h>", false), ("struct fstatvfs status;", false), ("#expect(fstatvfs() == 0)", true),
        ("let url = \"http://a.example\"; fstatvfs()", true),
        ("/// Avoids fstatvfs().\nother() // not fstatvfs()", false), ("notfstatvfs()", false),
    ])
    func nameCountsWhereApplesCompilerSeesIt(_ text: String, _ isSeen: Bool) {
        #expect(AppleSource.anySystem.names(in: text).contains("fstatvfs") == isSeen)
    }

    /// Xcode and package indexes build the package whole for each system. A device starts no other process.
    @Test func nothingThatIsBuiltForDevicesStartsAProcess() throws {
        let support = AppleSource.files(in: Repository.root.appending(path: "Tests/Support"))
        var forbidden: Set<String> = ["Process", "posix_spawn", "fork", "execve", "processExitsWith"]
        for file in support {
            let text = try String(contentsOf: file, encoding: .utf8)
            // A file that is empty on devices declares what its users must guard as well.
            guard AppleSource.devices.names(in: text).isEmpty else { continue }
            forbidden.formUnion(text.matches(of: /(?m)^public (?:final class|enum|struct) (\w+)/).map { String($0.1) })
        }
        #expect(forbidden.isSuperset(of: ["ChildProcess", "Command", "SmallDisk"]))
        for folder in ["Sources", "Examples", "Tests"] {
            for file in AppleSource.files(in: Repository.root.appending(path: folder)) {
                let path = file.path.dropFirst(Repository.root.path.count + 1)
                // Separate packages, which are built where their tools are.
                if path.hasPrefix("Examples/Migration") || path.hasPrefix("Tests/Diagnostics")
                    || path.hasSuffix("Package.swift")
                {
                    continue
                }
                let text = try String(contentsOf: file, encoding: .utf8)
                let found = AppleSource.devices.names(in: text).intersection(forbidden)
                #expect(found.isEmpty, "\(path) needs #if os(Linux) || os(macOS)")
            }
        }
    }
}
#endif
