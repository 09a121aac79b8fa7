// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "InterceptorsHTTPTypes",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [.library(name: "InterceptorsHTTPTypes", targets: ["InterceptorsHTTPTypes"])],
    dependencies: [
        .package(name: "Interceptors", path: "../.."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .target(
            name: "InterceptorsHTTPTypes",
            dependencies: [
                .product(name: "Interceptors", package: "Interceptors"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "InterceptorsHTTPTypesTests",
            dependencies: [
                "InterceptorsHTTPTypes",
                .product(name: "Interceptors", package: "Interceptors"),
                .product(name: "InterceptorsStubs", package: "Interceptors"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
    ]
)
