// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let middlewares = Target.Dependency.product(name: "Middlewares", package: "Interceptors")

// A package of its own, so that peers may be its dependencies and the root package stays without any.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Interceptors", path: "..")],
    targets: [
        .target(name: "CAllocations"),
        .target(name: "Harness", dependencies: ["CAllocations"], swiftSettings: settings),
        .executableTarget(name: "ChainBenchmarks", dependencies: ["Harness", middlewares], swiftSettings: settings),
        .executableTarget(name: "AllocationCheck", dependencies: ["Harness", middlewares], swiftSettings: settings),
    ]
)
