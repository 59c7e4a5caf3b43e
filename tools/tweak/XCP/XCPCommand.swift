// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakFormats
import TweakGenerators
import TweakRecords
import TweakSystem
import TweakXCP

struct XCPCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "xcp", abstract: "Serve the values of a program to calibration tools.",
        discussion: """
            Prints an address and serves XCP on TCP there, until interrupted or the program ends. Tools such as CANape and \
            pyxcp read and change tweaks, and read and sample monitors, at the addresses in the A2L file that tweak-dump \
            --format a2l --libraries writes; they can also upload that file through XCP. Each write must cover exactly one \
            tweak and is checked as by tweak set; the command prints the reason for a refusal. Samples are taken every 1, \
            2, 10 or 100 ms. One tool can connect at a time, run by you or root on this machine.
            """)

    @Option(help: ArgumentHelp("The TCP port on 127.0.0.1; 0 picks a free one.", valueName: "number"))
    var port: UInt16 = 5555

    @OptionGroup var target: ProcessOptions

    func run() throws {
        try target.forEachRunning { program throws(Failure) in
            let (memory, values, identity) = try described(program)
            var server = try XCPServer(program, XCPSession(memory, values, identity), port: port)
            print("XCP on TCP at \(server.address)")
            fflush(nil)
            try server.serve()
        }
    }

    /// The values of a program, as its A2L file describes them.
    private func described(
        _ program: LiveProgram
    ) throws(Failure) -> (XCPMemory, ProgramValues, XCPIdentity) {
        let images = try ProgramFile(named: "\(program.running.pid)").cellsOfImages()
        var file = A2LFile()
        for image in images {
            _ = try failing {
                try file.addModule(
                    path: image.path, buildID: image.buildID, byteOrder: image.byteOrder,
                    image.cells.map { A2LFile.Cell($0.tweak, address: $0.address) })
            }
        }
        // Extensions of addresses have a byte in XCP.
        let objects = file.objects.filter { $0.image <= Int(UInt8.max) }
        guard !objects.isEmpty else {
            throw Failure(
                "it has no tweaks and monitors that A2L can describe", about: program.title, .invalid)
        }
        let memory = XCPMemory(
            objects.map { object in
                XCPMemory.Object(
                    at: XCPAddress(image: UInt8(clamping: object.image), offset: object.address),
                    byteCount: object.declaration.type.byteCount)
            })
        let name = lastComponent(of: images.first?.path ?? "")
        let identity = XCPIdentity(
            name: program.title, file: name, description: file.text, buildID: images.first?.buildID)
        return (memory, ProgramValues(program, objects), identity)
    }
}
