// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// CI has no access to swift-openapi-runtime, and compiles against a declaration of the few names that this package uses.
let runtime: Package.Dependency =
    Context.environment["INTERCEPTORS_OPENAPI_STAND_IN"] == nil
    ? .package(url: "https://github.com/apple/swift-openapi-runtime", from: "1.9.0")
    : .package(path: "StandIn/swift-openapi-runtime")

let package = Package(
    name: "InterceptorsOpenAPI",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [.library(name: "InterceptorsOpenAPI", targets: ["InterceptorsOpenAPI"])],
    dependencies: [
        .package(name: "Interceptors", path: "../.."),
        .package(name: "InterceptorsHTTPTypes", path: "../HTTPTypes"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        runtime,
    ],
    targets: [
        .target(
            name: "InterceptorsOpenAPI",
            dependencies: [
                .product(name: "Interceptors", package: "Interceptors"),
                .product(name: "InterceptorsHTTPTypes", package: "InterceptorsHTTPTypes"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "InterceptorsOpenAPITests",
            dependencies: [
                "InterceptorsOpenAPI",
                .product(name: "Interceptors", package: "Interceptors"),
                .product(name: "InterceptorsStubs", package: "Interceptors"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime"),
            ],
            swiftSettings: settings
        ),
    ]
)
