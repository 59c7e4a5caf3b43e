// SPDX-License-Identifier: BSD-3-Clause
#if UI
import CTweakPage
import CommandSupport
import TweakSystem

/// A file of the page.
struct Asset: Sendable {
    let bytes: [UInt8]
    /// The gzip-compressed bytes; `nil` if the file is only sent uncompressed.
    let compressed: [UInt8]?
    let contentType: String
    /// The entity tag. It is the same for both encodings, and therefore weak.
    let tag: String
    /// Whether the content at this path never changes.
    private(set) var isForGood = false
    /// Whether it is a part of the view of a fleet.
    let isOfFleet: Bool

    private init(_ name: String, _ bytes: [UInt8], compressed: [UInt8]? = nil) {
        (self.bytes, self.compressed, isOfFleet) = (bytes, compressed, name.hasPrefix("fleet"))
        let ending = name.split(separator: ".").last.map(String.init) ?? ""
        contentType = Self.types[ending] ?? "application/octet-stream"
        tag = "W/\"\(Self.hash(bytes))-\(bytes.count)\""
    }

    /// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv: not for secrets.
    private static func hash(_ bytes: some Sequence<UInt8>) -> String {
        let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0100_0000_01B3 }
        return String(hash, radix: 16)
    }

    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8", "json": "application/json", "svg": "image/svg+xml",
        "png": "image/png", "ico": "image/x-icon", "webmanifest": "application/manifest+json",
        "woff2": "font/woff2", "txt": "text/plain; charset=utf-8",
    ]

    /// The files in the executable, by path. Files that the page loads have the hash of all files in their path, so
    /// that browsers can cache them. All modules of a page are loaded as one.
    private static let all: [String: Asset] = {
        var assets: [String: Asset] = [:]
        var place = 0
        while let name = tweak_page_file_at(place).name {
            let file = tweak_page_file_at(place)
            let name = String(cString: name)
            assets[name] = Asset(name, Array(UnsafeBufferPointer(start: file.bytes, count: file.size)))
            place += 1
        }
        let version = hash(assets.sorted { $0.key < $1.key }.flatMap { $0.value.tag.utf8 })
        let sources = assets.filter { $0.key.hasSuffix(".js") }.mapValues {
            String(decoding: $0.bytes, as: UTF8.self)
        }
        let files = assets
        func add(_ name: String, _ bytes: [UInt8]) {
            guard !bytes.isEmpty else { return }
            var asset = Asset(name, bytes, compressed: gzipped(bytes))
            asset.isForGood = true
            assets["\(version)/\(name)"] = asset
        }
        for (path, file) in files where path.hasSuffix(".html") {
            var page = String(decoding: file.bytes, as: UTF8.self)
            for name in files.keys where page.contains("=\"\(name)\"") {
                page = page.replacing("=\"\(name)\"", with: "=\"\(version)/\(name)\"")
                var bytes = files[name]?.bytes ?? []
                if name.hasSuffix(".js") {
                    let bundle = ModuleBundle(name, of: sources)
                    bytes = Array(bundle.text.utf8)
                    add(bundle.laterPath, Array(bundle.later.utf8))
                }
                if name.hasSuffix(".css") {
                    let text = String(decoding: bytes, as: UTF8.self)
                    bytes = Array(ModuleBundle.compact(styleSheet: text).utf8)
                }
                add(name, bytes)
            }
            let bytes = Array(page.utf8)
            assets[path] = Asset(path, bytes, compressed: gzipped(bytes))
        }
        return assets
    }()

    /// The file for the path of a request.
    static func at(_ path: String) -> Asset? {
        let name = path == "/" ? "index.html" : String(path.dropFirst())
        // Serves edited files without a new build: each module is a file, and browsers cache nothing.
        if let folder = environment("TWEAKS_UI_PAGE"), !name.split(separator: "/").contains("..") {
            return (try? readInput("\(folder)/\(name)", isNamed: false)).map { Asset(name, $0) }
        }
        return all[name]
    }
}
#endif
