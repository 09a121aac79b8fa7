// swift-tools-version: 6.2
import PackageDescription

// Not swift-openapi-runtime: a declaration of the names that the adapter uses, for checks where the package can't be had.
let package = Package(
    name: "swift-openapi-runtime",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [.library(name: "OpenAPIRuntime", targets: ["OpenAPIRuntime"])],
    dependencies: [.package(url: "https://github.com/apple/swift-http-types", from: "1.8.0")],
    targets: [
        .target(name: "OpenAPIRuntime", dependencies: [.product(name: "HTTPTypes", package: "swift-http-types")])
    ]
)
