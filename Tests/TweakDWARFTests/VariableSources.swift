// SPDX-License-Identifier: BSD-3-Clause
import TestSupport

/// Programs with variables of many types.
enum VariableSources {
    static let c = [
        "one.c": #"""
        #include <stdbool.h>
        #include <stdio.h>
        enum mode { OFF, SLOW = 3, BACK = -2 };
        typedef double meters;
        struct inner { short a; float b; };
        struct player {
          int id;
          double speed;
          struct inner in;
          unsigned flag : 3;
          union { int whole; float part; };
          char name[8];
          struct player *next;
        };
        struct weight { float weight; int k[2][3]; };
        double gravity = 9.81;
        static double damped = 0.5;
        static double quiet = 0.25;
        volatile int level = 3;
        static int two = 3;
        const double fixed = 1.5;
        static const int table_const[3] = {1, 2, 3};
        _Thread_local int perthread = 4;
        struct player player = {1, 2.5};
        static struct player hidden;
        struct weight table[4];
        enum mode mode = SLOW;
        bool on = true;
        char letter = 'x';
        unsigned char byte = 200;
        meters height = 3;
        const char *text = "hello";
        char *const fixed_text = "ho";
        long double wide = 1;
        extern int incomplete[];
        int incomplete[5] = {1};
        int *pointer = &incomplete[0];
        void (*function)(void);
        _Atomic int counter = 1;
        volatile const int seen = 4;
        __attribute__((section(".data.rel.ro"))) void *relro = &gravity;
        void other(void);
        __attribute__((noinline)) int work(int n) {
          static int inner = 7;
          static volatile int always = 8;
          inner += n;
          return inner + always;
        }
        int main(int c, char **v) {
          if (c > 1) {
            damped = c; hidden.speed = c; mode = BACK; on = c > 3; table[c].weight = c; player.speed = c;
            letter++; height += c; gravity += c; two = 8;
          }
          if (c > 7) { counter++; perthread++; text = v[1]; wide++; byte++; incomplete[c]++; pointer++; }
          other();
          printf("%g %g %d %d %g %d %d %s %d %g\n", gravity, damped, level, two, hidden.speed, work(c), perthread, text,
                 table_const[c % 3], quiet);
          return on + letter + byte + height + *fixed_text + wide + *pointer + counter + seen + table[1].k[1][2] +
                 (relro == 0) + player.in.b + (function != 0) + mode + player.name[1] + fixed;
        }

        """#,
        "two.c": """
        static double damped = 0.75;
        extern double gravity;
        static int only[2];
        void other(void) { damped *= gravity; only[(int)damped & 1]++; }

        """,
    ]

    static let cPlusPlus = [
        "one.cpp": #"""
        #include <cstdio>
        namespace game {
        struct Base { int hp = 3; };
        class Physics : public Base {
         public:
          static double gravity;
          static const int limit = 5;
          static inline float drag = 0.5f;
          int own = 2;
          static constexpr int most = 9;
        };
        double Physics::gravity = 9.81;
        namespace { int hidden = 3; namespace deep { long x = 1; } }
        enum class Mode : unsigned char { A = 1, B = 200 };
        Mode mode = Mode::A;
        Physics object;
        inline int shared = 1;
        template <class T> struct Holder { static T value; };
        template <class T> T Holder<T>::value = 4;
        int method() { static int calls = 0; static volatile double gain = 1.5; return ++calls + (int)gain; }
        struct S { int m() { static int inmember = 3; return inmember++; } };
        }
        static double gravity = 1;
        int &reference = game::shared;
        char16_t c16 = 'x';
        int main(int c, char **v) {
          game::S s;
          if (c > 1) {
            game::Physics::gravity = c; game::hidden = c; game::mode = game::Mode::B; game::object.hp = c;
            game::shared++; game::Holder<int>::value++; gravity = c; game::Physics::drag++; game::deep::x++; c16++;
            s.m();
          }
          printf("%g %d %d %g\n", game::Physics::gravity, game::hidden, game::method(), gravity);
          return (int)game::mode + game::object.hp + game::object.own + game::Holder<int>::value +
                 (int)game::Physics::drag + game::deep::x + reference + c16 + s.m();
        }

        """#
    ]

    /// Compiles and links a program.
    static func build(
        _ language: Language, _ compiler: Compiler, _ flags: [String], in home: TemporaryDirectory
    ) throws -> String {
        let sources = try (language == .c ? c : cPlusPlus).sorted { $0.key < $1.key }
            .map { try home.write($0.key, $0.value) }
        let standard = language == .c ? "-std=gnu11" : "-std=c++17"
        // The linker of the system cannot link what clang made for optimizing as a whole.
        let linker = compiler != .gcc && flags.contains("-flto") ? ["-fuse-ld=lld"] : []
        try compiler.compile(
            sources, as: language, to: home("program"), ["-g", standard] + flags + linker, home: home)
        return home("program")
    }
}
