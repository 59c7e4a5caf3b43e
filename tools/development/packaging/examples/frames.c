/* A moving ball: one line per frame. Each build file beside this file builds it. */
#include <fbtweak.h>
#include <stdio.h>

int main(void) {
  int frames = FBTweakValue("Frames", "Run", "Frames", 5, 1, 1000);
  for (int frame = 0; frame < frames; frame++) {
    double place = frame * FBTweakValue("Frames", "Ball", "Speed", 2.0, 0.0, 20.0);
    printf("%*s\n", (int)place + 1, FBTweakValue("Frames", "Ball", "Glyph", "o"));
  }
}
