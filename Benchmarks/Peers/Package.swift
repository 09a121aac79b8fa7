// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let harness = Target.Dependency.product(name: "Harness", package: "Benchmarks")
let middlewares = Target.Dependency.product(name: "Interceptors", package: "Interceptors")

// The benchmarks that compare with other packages. They are separate because the others need no packages and build in seconds.
let package = Package(
    name: "Peers",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Interceptors", path: "../.."),
        .package(name: "Benchmarks", path: ".."),
        .package(url: "https://github.com/Alamofire/Alamofire", from: "5.10.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/mattt/EventSource", from: "1.5.1"),
    ],
    targets: [
        // Needs libcurl's headers (Debian, Ubuntu: libcurl4-openssl-dev).
        .target(name: "CFloor", linkerSettings: [.linkedLibrary("curl")]),
        .executableTarget(
            name: "NetworkBenchmarks",
            dependencies: [
                "CFloor", harness, middlewares, .product(name: "InterceptorsURLSession", package: "Interceptors"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FieldBenchmarks",
            dependencies: [harness, middlewares, .product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "EventBenchmarks",
            dependencies: [
                harness, .product(name: "EventSource", package: "EventSource"),
                .product(name: "InterceptorsStubs", package: "Interceptors"),
                .product(name: "InterceptorsTransfers", package: "Interceptors"),
            ],
            swiftSettings: settings
        ),
        // Apps of one GET each, for `Benchmarks/size`.
        .executableTarget(
            name: "GetOverAlamofire",
            dependencies: [.product(name: "Alamofire", package: "Alamofire")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "GetOverAsyncHTTPClient",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
    ]
)
