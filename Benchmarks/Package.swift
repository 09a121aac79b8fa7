// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let middlewares = Target.Dependency.product(name: "Interceptors", package: "Interceptors")

// A separate package, so that users of the library don't build it. Benchmarks that depend on other packages are in `Peers/`,
// so that CI, which runs AllocationCheck, fetches none.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    products: [.library(name: "Harness", targets: ["Harness"])],
    dependencies: [.package(name: "Interceptors", path: "..")],
    targets: [
        .target(name: "CAllocations"),
        .target(name: "Harness", dependencies: ["CAllocations"], swiftSettings: settings),
        .target(name: "RealisticChain", dependencies: [middlewares], swiftSettings: settings),
        .executableTarget(
            name: "ChainBenchmarks",
            dependencies: [
                "Harness", "RealisticChain", middlewares,
                .product(name: "InterceptorsInsight", package: "Interceptors"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "RecordingBenchmarks",
            dependencies: ["Harness", .product(name: "InterceptorsRecordings", package: "Interceptors")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "StreamBenchmarks",
            dependencies: [
                "Harness", .product(name: "InterceptorsStubs", package: "Interceptors"),
                .product(name: "InterceptorsTransfers", package: "Interceptors"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(name: "CacheBenchmarks", dependencies: ["Harness", middlewares], swiftSettings: settings),
        .executableTarget(
            name: "AllocationCheck",
            dependencies: ["Harness", "RealisticChain", middlewares],
            swiftSettings: settings
        ),
        // Apps of one GET each, whose sizes `Benchmarks/size` compares with a budget.
        .executableTarget(
            name: "GetOverTransport",
            dependencies: [.product(name: "InterceptorsTransport", package: "Interceptors")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "GetOverClient",
            dependencies: [.product(name: "InterceptorsCore", package: "Interceptors")],
            swiftSettings: settings
        ),
        .executableTarget(name: "GetThroughChain", dependencies: [middlewares], swiftSettings: settings),
    ]
)
